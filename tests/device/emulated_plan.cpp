// SPDX-License-Identifier: MIT
// What is to go wrong with emulated devices, and what has happened to them.
#include "tests/device/emulated_device_internal.h"

#include <cstdio>
#include <cstring>

namespace emulated
{

std::atomic<unsigned> calls, devices_open;
std::atomic<bool> struck;
std::atomic<uint64_t> decoding_memory;

[[noreturn]] void broken(const char *rule)
{
    std::fprintf(stderr, "emulated device: %s\n", rule);
    std::abort();
}

namespace
{

std::mutex plan_lock; // a device of an earlier run may still be opening while the next is planned
struct fault_plan plan;
bool planned;

// GPUHISTO_FAULT=KIND:AT[:once]
struct fault_plan plan_from_environment()
{
    const char *devices = std::getenv("GPUHISTO_DEVICES");
    struct fault_plan given = {FAULT_NONE, 0, true, 1, 1, 0, false};
    static const char *const names[] = {"none", "error", "wrong",   "hang",
                                        "late", "stop",  "content", "stuck"};
    const char *text = std::getenv("GPUHISTO_FAULT");
    char name[16] = "", once[8] = "";
    if (devices)
        given.devices = static_cast<unsigned>(std::atoi(devices));
    if (!text)
        return given;
    if (std::sscanf(text, "%15[a-z]:%u:%7s", name, &given.at, once) < 2)
        broken("GPUHISTO_FAULT is KIND:AT[:once]");
    given.reads_only = std::strncmp(name, "read", 4) == 0;
    const char *kind = given.reads_only ? name + 4 : name;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (std::strcmp(kind, names[i]) == 0)
            given.fault = static_cast<enum fault>(i);
    given.for_good = !*once;
    return given;
}

} // namespace

struct fault_plan current_plan()
{
    std::lock_guard<std::mutex> guard(plan_lock);
    return planned ? plan : plan_from_environment();
}

namespace
{

// Never destroyed: a call that is stuck when the process ends still waits for them.
std::mutex &stuck_lock = *new std::mutex;
std::condition_variable &stuck_changed = *new std::condition_variable;
unsigned stuck, releases;

} // namespace

void get_stuck(struct device *device)
{
    struck = true;
    {
        std::unique_lock<std::mutex> guard(stuck_lock);
        const unsigned before = releases;
        stuck++;
        stuck_changed.wait(guard, [=] { return releases != before; });
    }
    if (device->is_open)
        lose(device);
    std::lock_guard<std::mutex> guard(stuck_lock);
    stuck--;
    stuck_changed.notify_all();
}

} // namespace emulated

using namespace emulated;

extern "C" void emulated_device_release(void)
{
    std::unique_lock<std::mutex> guard(stuck_lock);
    releases++;
    stuck_changed.notify_all();
    stuck_changed.wait(guard, [] { return stuck == 0; });
}

extern "C" void emulated_device_plan(struct fault_plan given)
{
    std::lock_guard<std::mutex> guard(plan_lock);
    plan = given;
    planned = true;
    calls = 0;
    struck = false;
}

extern "C" void emulated_device_memory(uint64_t bytes)
{
    decoding_memory = bytes;
}

extern "C" unsigned emulated_device_calls(void)
{
    return calls;
}

extern "C" bool emulated_device_struck(void)
{
    return struck;
}

extern "C" unsigned emulated_devices_open(void)
{
    return devices_open;
}
