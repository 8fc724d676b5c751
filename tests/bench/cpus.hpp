#pragma once
#include <vector>

#include <sched.h>

namespace sluice::bench {

// That this process may run on.
inline std::vector<int> usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    (void)::sched_getaffinity(0, sizeof(set), &set);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) {
            cpus.push_back(cpu);
        }
    }
    return cpus;
}

// The calling thread, from now on.
inline void pin_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)::sched_setaffinity(0, sizeof(set), &set);
}

}  // namespace sluice::bench
