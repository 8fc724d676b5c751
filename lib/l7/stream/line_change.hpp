#pragma once
#include "lib/l7/stream/hopscotch_lines.hpp"
#include "lib/l7/stream/kept_memory.hpp"
#include "lib/share/word.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice {

// Bytes as they were before the change that is under way, in memory that outlives the process: a
// kill at any instruction leaves them as they were before the change, or behind it. A killed
// process's stores are all there in their order, so it is the compiler alone that must not move
// them. For tables in memory that does not outlive it, nothing is done.
//
//   begin()   the bytes are put by, then the change is open
//   end()     it is not open any more
//   undo...   by the next process, before it looks at any line
template <std::size_t kBytes>
class OpenChange {
public:
    explicit OpenChange(KeptMemory& memory)
        : memory_{memory.take(sizeof(Before))},
          before_{memory.is_kept() ? static_cast<Before*>(memory_.data()) : nullptr} {}
    [[nodiscard]] static constexpr std::size_t bytes() noexcept {
        return KeptMemory::taken_for(sizeof(Before));
    }
    [[nodiscard]] bool is_kept() const noexcept { return before_ != nullptr; }

    // `index`: the connection's line; kNoConnection: it has none yet.
    void begin(const void* bytes, std::uint64_t digest, ConnectionIndex index) noexcept {
        if (before_ == nullptr) {
            return;
        }
        end();
        before_->digest = digest;
        before_->index = index;
        if (index != kNoConnection) {
            std::memcpy(before_->bytes.data(), bytes, kBytes);
        }
        keep_store_order();
        before_->is_open = kOpen;
        keep_store_order();
    }
    void end() noexcept {
        if (before_ != nullptr) {
            keep_store_order();
            before_->is_open = 0;
            keep_store_order();
        }
    }

    // The place that was under change; kNoConnection: none, or it is not below `count`.
    [[nodiscard]] ConnectionIndex open_at(std::size_t count) const noexcept {
        const bool is_open = before_ != nullptr && before_->is_open == kOpen;
        return is_open && before_->index < count ? before_->index : kNoConnection;
    }
    void put_back(void* bytes) const noexcept { std::memcpy(bytes, before_->bytes.data(), kBytes); }
    // The line that was under change is as it was, and others of its connection are free.
    template <typename Line>
    void undo(HopscotchLines<Line>& lines) noexcept {
        static_assert(kBytes <= sizeof(Line));
        if (before_ == nullptr || before_->is_open != kOpen) {
            return;
        }
        const ConnectionIndex index = open_at(lines.capacity());
        for (std::size_t at = 0; at < lines.capacity(); ++at) {
            Line& line = lines[static_cast<ConnectionIndex>(at)];
            if (at != index && line.digest == before_->digest) {
                line.give_up();
            }
        }
        if (index != kNoConnection) {
            put_back(&lines[index]);
        }
        end();
    }

private:
    // No other number is one that was written here.
    static constexpr std::uint32_t kOpen = 0x0C4A'0001;
    struct Before {
        std::array<std::byte, kBytes> bytes;
        std::uint64_t digest;
        ConnectionIndex index;
        std::uint32_t is_open;
    };

    LineMemory memory_;
    Before* before_;
};

}  // namespace sluice
