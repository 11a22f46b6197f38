#include "src/open/input.h"
