#pragma once
#include "lib/l7/stream/age_list.hpp"
#include "lib/l7/stream/connection_lines.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

// By which paths hellos came in parts: servers know the first of these, and clients turn to the ids
// that the servers chose. A key is a keyed digest of the endpoints, an id one of a hello.
namespace sluice {

// Lines of paths are lent by a table, and go by age alone: they are at most `most`, which leaves
// room for what else is in it. Indices are those of the table.
class QuicPaths {
public:
    QuicPaths(ConnectionLines& lines, std::size_t most) noexcept : lines_{lines}, most_{most} {}

    [[nodiscard]] bool has_room() const noexcept { return size_ < most_; }
    // The id of the hello that began last on this path.
    [[nodiscard]] std::optional<std::uint64_t> latest_on(std::uint64_t path) const noexcept;
    // Hellos of it were given up, or several are half at once.
    [[nodiscard]] bool is_uncertain(std::uint64_t path) const noexcept;
    // The id of its hello that was judged and not forwarded, or not yet.
    [[nodiscard]] std::optional<std::uint64_t> judged_on(std::uint64_t path) const noexcept;
    // A new hello may come in parts: its path will have a line, and has no hello of which a server
    // may know more than the worker.
    [[nodiscard]] bool may_pass_in_parts(std::uint64_t path) const noexcept;

    // A new line of the table, in no list of age, is that of a path.
    void adopt(ConnectionIndex index) noexcept;
    // A hello begins on it.
    void join(ConnectionIndex index, std::uint64_t id) noexcept;
    // One of its hellos is whole, or is given up.
    void leave(ConnectionIndex index, bool is_whole, std::uint32_t ticks) noexcept;
    // The hello of this id, which came by this line, was forwarded: what its client goes on with
    // passes, as on any other path. The line may be another's by now.
    void forget_forwarded(ConnectionIndex index, std::uint64_t id) noexcept;

    // The one without a half hello for the longest time.
    [[nodiscard]] ConnectionIndex oldest() const noexcept { return ages_.oldest(); }
    // Removes a path without a half hello.
    void remove(ConnectionIndex index) noexcept;

private:
    ConnectionLines& lines_;
    std::size_t most_;
    std::size_t size_ = 0;
    AgeList ages_;  // of those without a half hello
};

}  // namespace sluice
