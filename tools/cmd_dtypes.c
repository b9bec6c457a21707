/* tenon dtypes: the list of element types. */
#include "tenon/dtype.h"
#include "tool.h"

static const char *const families[] = {
    [TENON_DTYPE_FAMILY_plain] = "plain",
    [TENON_DTYPE_FAMILY_packed] = "packed",
    [TENON_DTYPE_FAMILY_block] = "block",
    [TENON_DTYPE_FAMILY_removed] = "removed",
};

static double bits_per_element(const struct tenon_dtype_info *info)
{
    return info->block_elements == 0 ? 0 : 8.0 * info->block_bytes / info->block_elements;
}

static void write_json(struct tenon_tool *tool)
{
    struct tenon_json json = {.out = &tool->out};
    const struct tenon_dtype_info *info;

    tenon_json_document(&json, "tenon.dtypes/1");
    tenon_json_array(&json, "dtypes");
    for (size_t i = 0; (info = tenon_dtype_at(i)) != NULL; i++) {
        tenon_json_object_flat(&json, NULL);
        tenon_json_text(&json, "name", info->name);
        tenon_json_text(&json, "family", families[info->family]);
        tenon_json_u64(&json, "block_elements", info->block_elements);
        tenon_json_u64(&json, "block_bytes", info->block_bytes);
        tenon_json_f64(&json, "bits", bits_per_element(info));
        tenon_json_known(&json, "gguf", info->gguf_id);
        tenon_json_text(&json, "safetensors",
                        info->safetensors_id[0] != '\0' ? info->safetensors_id : NULL);
        tenon_json_end(&json);
    }
    tenon_json_end(&json);
    tenon_json_end(&json);
}

static void add_row(struct tenon_table *table, const struct tenon_dtype_info *info)
{
    char number[32];

    tenon_table_cell(table, "%s", info->name);
    tenon_table_cell(table, "%s", families[info->family]);
    if (info->block_elements == 0) {
        for (int i = 0; i < 3; i++)
            tenon_table_cell(table, "-");
    } else {
        tenon_table_cell(table, "%u", info->block_elements);
        tenon_table_cell(table, "%u", info->block_bytes);
        tenon_table_cell(table, "%s", tenon_out_number(number, bits_per_element(info), true));
    }
    if (info->gguf_id >= 0)
        tenon_table_cell(table, "%d", (int)info->gguf_id);
    else
        tenon_table_cell(table, "-");
    tenon_table_cell(table, "%s", info->safetensors_id[0] != '\0' ? info->safetensors_id : "-");
}

static int run(struct tenon_tool *tool)
{
    struct tenon_table table;
    const struct tenon_dtype_info *info;

    if (tool->common.json) {
        write_json(tool);
        return TENON_EXIT_YES;
    }
    tenon_table_init(&table);
    tenon_table_column(&table, "NAME", false);
    tenon_table_column(&table, "KIND", false);
    tenon_table_column(&table, "BLOCK", true);
    tenon_table_column(&table, "BYTES", true);
    tenon_table_column(&table, "BITS", true);
    tenon_table_column(&table, "GGUF", true);
    tenon_table_column(&table, "SAFETENSORS", false);
    for (size_t i = 0; (info = tenon_dtype_at(i)) != NULL; i++)
        add_row(&table, info);
    tenon_table_print(&table, &tool->out, &tool->term, 0);
    tenon_table_release(&table);
    return TENON_EXIT_YES;
}

static const struct tenon_example examples[] = {
    {"tenon dtypes --json | jq -r '.dtypes[].name'", "just the names"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_dtypes = {
    .operands = "",
    .about = "Lists the element types: the elements and bytes of a block, the bits an element "
             "takes, and what GGUF and safetensors call the type. Types of the kind 'removed' are "
             "known by name only.",
    .examples = examples,
    .run = run,
};
