/* Two GPUs of known values behind the calls of NVML that are made, in place of a driver's library.
 *
 * GPU 0 answers everything, at its power cap. GPU 1 is in one MIG slice, tells no utilization and
 * does not know its power. Signatures and codes: the NVML API reference. */

#include <string.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };
enum { CLOCK_SM = 1, POWER_CAP = 0x4, GPU_IDLE = 0x1 };

typedef unsigned long long bytes;
typedef struct { bytes total, free, used; } memory;
typedef struct { unsigned version; bytes total, reserved, free, used; } memory_v2;
typedef struct { unsigned gpu, memory; } utilization;
typedef struct {
    const char *name, *uuid;
    bytes used, total;
    unsigned use, milliwatts, degrees, sm_mhz, memory_mhz;
    bytes reasons;
} gpu;
typedef const gpu *device;

static const gpu gpus[] = {
    {"NVIDIA Stand-in A", "GPU-a", 69000000000, 80000000000, 87, 698000, 74, 1410, 2619, POWER_CAP},
    {"Stand-in B", "GPU-b", 5000000000, 24000000000, 0, 0, 41, 210, 405, GPU_IDLE},
};
static const gpu slice = {"Stand-in B MIG 1g", "MIG-b", 4500000000, 6000000000, 0, 0, 0, 0, 0, 0};

static int text(const char *words, char *target, unsigned room) {
    strncpy(target, words, room);
    return SUCCESS;
}

int nvmlInitWithFlags(unsigned flags) { return flags * SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }
const char *nvmlErrorString(int code) { return code == NOT_SUPPORTED ? "Not Supported" : "Error"; }
int nvmlSystemGetDriverVersion(char *target, unsigned room) { return text("580.1", target, room); }

int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = 2;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *found) {
    if (index > 1) return INVALID_ARGUMENT;
    *found = &gpus[index];
    return SUCCESS;
}

int nvmlDeviceGetName(device one, char *target, unsigned room) {
    return text(one->name, target, room);
}

int nvmlDeviceGetUUID(device one, char *target, unsigned room) {
    return text(one->uuid, target, room);
}

int nvmlDeviceGetMemoryInfo_v2(device one, memory_v2 *found) {
    found->total = one->total;
    found->used = one->used;
    return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(device one, utilization *found) {
    if (one != &gpus[0]) return NOT_SUPPORTED;
    found->gpu = one->use;
    return SUCCESS;
}

int nvmlDeviceGetPowerUsage(device one, unsigned *milliwatts) {
    *milliwatts = one->milliwatts;
    return one->milliwatts ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetEnforcedPowerLimit(device one, unsigned *milliwatts) {
    *milliwatts = 700000;
    return one->milliwatts ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetTemperature(device one, int sensor, unsigned *degrees) {
    *degrees = one->degrees;
    return sensor ? INVALID_ARGUMENT : SUCCESS;
}

int nvmlDeviceGetClockInfo(device one, int clock, unsigned *mhz) {
    *mhz = clock == CLOCK_SM ? one->sm_mhz : one->memory_mhz;
    return SUCCESS;
}

int nvmlDeviceGetCurrentClocksEventReasons(device one, bytes *reasons) {
    *reasons = one->reasons;
    return SUCCESS;
}

int nvmlDeviceGetMigMode(device one, unsigned *now, unsigned *after) {
    *now = *after = one == &gpus[1];
    return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(device one, unsigned *count) {
    *count = one == &gpus[1] ? 7 : 0;
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(device one, unsigned index, device *found) {
    if (one != &gpus[1] || index) return NOT_FOUND;
    *found = &slice;
    return SUCCESS;
}
