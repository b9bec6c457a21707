/* Golden cases: what a config says about positions. */
#include "position_cases.h"

void run_config_resolution(struct golden_case *c)
{
    c->not_run = "nothing resolves configs";
}
