#pragma once
#include "lib/l7/stream/loaded_services.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace sluice {

// Numbers that services keep from one rule set to the next, whatever their places in the file: a
// connection that is remembered names its service so.
class ServiceSlots {
public:
    // Another rule set is in force. Calls begun(slot) for each service that had no number.
    template <typename Begun>
    void adopt(const LoadedServices& services, Begun&& begun) noexcept {
        index_of_.fill(kNone);
        slot_of_.fill(kNone);
        for (std::size_t index = 0; index < services.all.size(); ++index) {
            place(index, names_, name_of(services.all[index].id));
        }
        for (std::size_t slot = 0; slot < kMaxServices; ++slot) {
            names_[slot] = index_of_[slot] == kNone ? 0 : names_[slot];
        }
        for (std::size_t index = 0; index < services.all.size(); ++index) {
            if (slot_of_[index] == kNone) {
                begun(take_free(index, name_of(services.all[index].id)));
            }
        }
    }

    static constexpr std::uint16_t kNone = 0xFFFF;
    // The slot of a service of the set in force, by its index; and the other way: kNone, if it is
    // gone.
    [[nodiscard]] std::uint16_t slot_of(std::size_t index) const noexcept {
        return slot_of_[index];
    }
    [[nodiscard]] std::uint16_t index_of(std::size_t slot) const noexcept {
        return index_of_[slot];
    }

    // A number for its name; of a slot 0, if it is free.
    [[nodiscard]] static std::uint64_t name_of(std::string_view id) noexcept {
        return std::hash<std::string_view>{}(id) | 1U;
    }
    [[nodiscard]] std::uint64_t name_of(std::uint16_t slot) const noexcept { return names_[slot]; }

    using Names = std::array<std::uint64_t, kMaxServices>;  // 0: free
    [[nodiscard]] const Names& names() const noexcept { return names_; }
    // Takes over the names that an earlier process left, before the first set.
    void take_over(const Names& names) noexcept {
        names_ = names;
        for (std::size_t slot = 0; slot < kMaxServices; ++slot) {
            next_ = names[slot] != 0 ? (slot + 1) % kMaxServices : next_;
        }
    }

private:
    void place(std::size_t index, const Names& names, std::uint64_t name) noexcept {
        for (std::size_t slot = 0; slot < kMaxServices; ++slot) {
            if (names[slot] == name) {
                slot_of_[index] = static_cast<std::uint16_t>(slot);
                index_of_[slot] = static_cast<std::uint16_t>(index);
            }
        }
    }
    std::uint16_t take_free(std::size_t index, std::uint64_t name) noexcept {
        std::size_t slot = next_;
        while (names_[slot] != 0) {
            slot = (slot + 1) % kMaxServices;
        }
        next_ = (slot + 1) % kMaxServices;
        names_[slot] = name;
        place(index, names_, name);
        return static_cast<std::uint16_t>(slot);
    }

    Names names_{};
    // Numbers that have been free for longest come first: connections of services that are gone
    // still name them.
    std::size_t next_ = 0;
    std::array<std::uint16_t, kMaxServices> slot_of_{};
    std::array<std::uint16_t, kMaxServices> index_of_{};
};

}  // namespace sluice
