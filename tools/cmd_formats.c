/* tenon formats: the list of file formats. */
#include "tenon/format.h"
#include "tool.h"

static void write_json(struct tenon_tool *tool)
{
    struct tenon_json json = {.out = &tool->out};
    const struct tenon_format_info *info;

    tenon_json_document(&json, "tenon.formats/1");
    tenon_json_array(&json, "formats");
    for (size_t i = 0; (info = tenon_format_at(i)) != NULL; i++) {
        tenon_json_object_flat(&json, NULL);
        tenon_json_text(&json, "name", info->name);
        tenon_json_text(&json, "summary", info->summary);
        tenon_json_text(&json, "extensions", info->extensions);
        tenon_json_bool(&json, "read", (info->flags & TENON_FORMAT_READ) != 0);
        tenon_json_bool(&json, "write", (info->flags & TENON_FORMAT_WRITE) != 0);
        tenon_json_end(&json);
    }
    tenon_json_end(&json);
    tenon_json_end(&json);
}

static const char *ability(unsigned flags)
{
    if ((flags & TENON_FORMAT_READ) == 0)
        return "recognised";
    return (flags & TENON_FORMAT_WRITE) != 0 ? "read, write" : "read";
}

static int run(struct tenon_tool *tool)
{
    struct tenon_table table;
    const struct tenon_format_info *info;

    if (tool->common.json) {
        write_json(tool);
        return TENON_EXIT_YES;
    }
    tenon_table_init(&table);
    tenon_table_column(&table, "NAME", false);
    tenon_table_column(&table, "CAN", false);
    tenon_table_column_words(&table, "EXTENSIONS");
    tenon_table_column_words(&table, "WHAT");
    for (size_t i = 0; (info = tenon_format_at(i)) != NULL; i++) {
        tenon_table_cell(&table, "%s", info->name);
        tenon_table_cell(&table, "%s", ability(info->flags));
        tenon_table_cell(&table, "%s", info->extensions);
        tenon_table_cell(&table, "%s", info->summary);
    }
    tenon_table_print(&table, &tool->out, &tool->term, 0);
    tenon_table_release(&table);
    return TENON_EXIT_YES;
}

static const struct tenon_example examples[] = {
    {"tenon formats", "what can be read, and what is only recognised"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_formats = {
    .operands = "",
    .about = "Lists the file formats. Files are told apart by their content, never by their name "
             "alone; those that are only recognised are named in the error message.",
    .examples = examples,
    .run = run,
};
