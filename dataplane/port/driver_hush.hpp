#pragma once
#include <cstdint>

#include <rte_log.h>

namespace sluice {

// While it lives, the driver of af_xdp logs no errors where the program at its interface is not its
// own: it tries to take that off when its port is closed, and what a link keeps there, for the
// kernel to go on by, stays.
class DriverHush {
public:
    explicit DriverHush(bool program_stays) noexcept
        : type_{program_stays ? rte_log_register("pmd.net.af_xdp") : -1},
          level_{type_ < 0 ? 0 : rte_log_get_level(static_cast<std::uint32_t>(type_))} {
        set(RTE_LOG_CRIT);
    }
    ~DriverHush() { set(level_); }
    DriverHush(const DriverHush&) = delete;
    DriverHush& operator=(const DriverHush&) = delete;

private:
    void set(int level) const noexcept {
        if (type_ >= 0 && level >= 0) {
            (void)rte_log_set_level(static_cast<std::uint32_t>(type_),
                                    static_cast<std::uint32_t>(level));
        }
    }

    int type_;   // below 0: nothing is changed
    int level_;  // that it had
};

}  // namespace sluice
