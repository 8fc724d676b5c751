#pragma once
#include "lib/wire/store_messages.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Why a link to the store is not ready, and in which state that leaves it.
struct StoreFault {
    StoreLinkState state = StoreLinkState::Away;
    std::string why;
};

// The meaning of a store's error for the link, and what to do about it.
[[nodiscard]] StoreFault store_fault_of(std::string_view error);

// True of errors whose meaning is known; others may be of one key alone.
[[nodiscard]] bool is_known_fault(std::string_view error) noexcept;

// A store that lacks functions may have them as a script; one that gives no right to either says
// so.
[[nodiscard]] bool lacks_functions(std::string_view error) noexcept;
[[nodiscard]] bool lacks_right(std::string_view error) noexcept;

// What INFO says against it as a store: keys may be evicted, it is a replica, or it has none where
// one has to confirm. nullopt: nothing.
[[nodiscard]] std::optional<StoreFault> memory_fault(std::string_view info);
[[nodiscard]] std::optional<StoreFault> role_fault(std::string_view info, Durability durability);

// The value of a line `name:value` of INFO; empty: there is none.
[[nodiscard]] std::string_view info_value(std::string_view info, std::string_view name);

}  // namespace sluice
