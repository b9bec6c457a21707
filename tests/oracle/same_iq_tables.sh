#!/bin/sh
# same_iq_tables.sh GENERATOR IQ_TABLES_C   the generator must still write the file in the tree.
if [ -z "${TENON_ORACLE_GGML:-}" ]; then
    echo "TENON_ORACLE_GGML is not set"
    exit 77
fi
"$1" "$TENON_ORACLE_GGML" | cmp - "$2" && echo "$(wc -l <"$2") lines are the same"
