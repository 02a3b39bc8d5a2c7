// SPDX-License-Identifier: Apache-2.0

#include "file_system.h"
#include "mapping.h"
#include "threads.h"
