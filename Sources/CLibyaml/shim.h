#ifndef GRANTOR_CLIBYAML_SHIM_H
#define GRANTOR_CLIBYAML_SHIM_H

#include <yaml.h>

#endif
