/* tenon archs: the list of model families. */
#include "tenon/arch.h"
#include "tool.h"

/* Words separated by blanks, as an array. */
static void write_word_array(struct tenon_json *json, const char *key, const char *words)
{
    tenon_json_array_flat(json, key);
    while (*words != '\0') {
        struct tenon_str word = {words, 0};

        while (words[word.len] != '\0' && words[word.len] != ' ')
            word.len++;
        if (word.len > 0)
            tenon_json_str(json, NULL, word);
        words += word.len;
        while (*words == ' ')
            words++;
    }
    tenon_json_end(json);
}

static void write_json(struct tenon_tool *tool)
{
    struct tenon_json json = {.out = &tool->out};
    const struct tenon_arch *arch;

    tenon_json_document(&json, "tenon.archs/1");
    tenon_json_array(&json, "archs");
    for (size_t i = 0; (arch = tenon_arch_at(i)) != NULL; i++) {
        tenon_json_object(&json, NULL);
        tenon_json_text(&json, "name", arch->name);
        tenon_json_text(&json, "title", arch->title);
        write_word_array(&json, "model_types", arch->model_types);
        write_word_array(&json, "gguf", arch->gguf_names);
        tenon_json_text(&json, "tie_transformers_v4", tenon_tie_default_name(arch->tie_v4));
        tenon_json_text(&json, "tie_transformers_v5", tenon_tie_default_name(arch->tie_v5));
        tenon_json_text(&json, "gguf_output", tenon_gguf_head_name(arch->gguf_head));
        tenon_json_text(&json, "position", tenon_position_name(arch->position));
        tenon_json_text(&json, "rope_layout", tenon_rope_layout_name(arch->rope_layout));
        tenon_json_text(&json, "embedding_scale", tenon_embed_scale_name(arch->embed_scale));
        tenon_json_end(&json);
    }
    tenon_json_end(&json);
    tenon_json_end(&json);
}

static void add_row(struct tenon_table *table, const struct tenon_arch *arch)
{
    tenon_table_cell(table, "%s", arch->name);
    tenon_table_cell(table, "%s", arch->gguf_names[0] != '\0' ? arch->gguf_names : "-");
    tenon_table_cell(table, "%s", tenon_tie_default_name(arch->tie_v5));
    tenon_table_cell(table, "%s", tenon_gguf_head_name(arch->gguf_head));
    tenon_table_cell(table, "%s", tenon_position_name(arch->position));
    tenon_table_cell(table, "%s", arch->title);
}

static int run(struct tenon_tool *tool)
{
    struct tenon_table table;
    const struct tenon_arch *arch;

    if (tool->common.json) {
        write_json(tool);
        return TENON_EXIT_YES;
    }
    tenon_table_init(&table);
    tenon_table_column(&table, "NAME", false);
    tenon_table_column_words(&table, "IN GGUF");
    tenon_table_column(&table, "TIES", false);
    tenon_table_column(&table, "OUTPUT", false);
    tenon_table_column(&table, "POSITIONS", false);
    tenon_table_column_words(&table, "WHAT");
    for (size_t i = 0; (arch = tenon_arch_at(i)) != NULL; i++)
        add_row(&table, arch);
    tenon_table_print(&table, &tool->out, &tool->term, 0);
    tenon_table_release(&table);
    return TENON_EXIT_YES;
}

static const struct tenon_example examples[] = {
    {"tenon archs --json | jq '.archs[] | select(.name == \"llama\")'", "everything about one"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_archs = {
    .operands = "",
    .about = "Lists the model families whose tensor names are understood. TIES is what the config "
             "class assumes when its file is silent; OUTPUT is how llama.cpp treats the output "
             "matrix of a GGUF file: 'optional' means that without one the input matrix is used.",
    .examples = examples,
    .run = run,
};
