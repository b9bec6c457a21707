/* Everything at once. */
#ifndef TENON_TENON_H
#define TENON_TENON_H

#include "tenon/api.h"
#include "tenon/arch.h"
#include "tenon/diff.h"
#include "tenon/dtype.h"
#include "tenon/edit.h"
#include "tenon/embed.h"
#include "tenon/encode.h"
#include "tenon/error.h"
#include "tenon/finding.h"
#include "tenon/format.h"
#include "tenon/hash.h"
#include "tenon/hparams.h"
#include "tenon/logical.h"
#include "tenon/meta.h"
#include "tenon/model.h"
#include "tenon/pixels.h"
#include "tenon/plan.h"
#include "tenon/rope.h"
#include "tenon/split.h"
#include "tenon/stats.h"
#include "tenon/tensor.h"
#include "tenon/text.h"
#include "tenon/tie.h"
#include "tenon/tying.h"

#endif
