#!/bin/sh
# run_python.sh SCRIPT ARGUMENT...   with the python of TENON_ORACLE_PYTHON, or skipped.
if [ -z "${TENON_ORACLE_PYTHON:-}" ]; then
    echo "TENON_ORACLE_PYTHON is not set"
    exit 77
fi
exec "$TENON_ORACLE_PYTHON" "$@"
