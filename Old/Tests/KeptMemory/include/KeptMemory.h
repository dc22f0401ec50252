// Loaded into the broker's process (LD_PRELOAD), this keeps freed memory of a group member's size from being used again.
//
// librdkafka's mock cluster names members by the address of their memory. A member whose session ran out and who comes back
// under its old name meets a new one to whom the same address was given since; the mock then ends the process
// ("Assertion `!member->resp' failed"), or treats two consumers as one. Addresses that never come back are names that
// never do. The price is memory: some megabytes for a run.
#ifndef KEPT_MEMORY_H
#define KEPT_MEMORY_H

#endif
