#pragma once
#include <rte_eal.h>

#include <stdexcept>

namespace sluice::test {

// The EAL starts once a process, whichever test needs it first: two lcores for workers, 1 and 2,
// which share a processor with the main one.
inline void start_eal_once() {
    static const int kStarted = [] {
        static char program[] = "test";
        static char lcores[] = "--lcores=(0-2)@0";
        static char no_huge[] = "--no-huge";
        static char memory[] = "-m64";
        static char no_pci[] = "--no-pci";
        static char no_conf[] = "--no-shconf";
        static char no_telemetry[] = "--no-telemetry";
        static char* argv[] = {program, lcores, no_huge, memory, no_pci, no_conf, no_telemetry};
        return rte_eal_init(7, argv);
    }();
    if (kStarted < 0) {
        throw std::runtime_error("no EAL");
    }
}

}  // namespace sluice::test
