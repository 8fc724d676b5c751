#pragma once
#include "lib/l7/stream/hopscotch_lines.hpp"

#include <cstddef>

namespace sluice {

// Connections in the order of their age, chained through their lines' `older` and `newer`.
class AgeList {
public:
    [[nodiscard]] ConnectionIndex oldest() const noexcept { return oldest_; }

    void push_newest(auto& lines, ConnectionIndex index) noexcept {
        lines[index].older = newest_;
        lines[index].newer = kNoConnection;
        (newest_ == kNoConnection ? oldest_ : lines[newest_].newer) = index;
        newest_ = index;
    }
    void push_oldest(auto& lines, ConnectionIndex index) noexcept {
        lines[index].newer = oldest_;
        lines[index].older = kNoConnection;
        (oldest_ == kNoConnection ? newest_ : lines[oldest_].older) = index;
        oldest_ = index;
    }
    void remove(auto& lines, ConnectionIndex index) noexcept {
        const auto& line = lines[index];
        (line.older == kNoConnection ? oldest_ : lines[line.older].newer) = line.newer;
        (line.newer == kNoConnection ? newest_ : lines[line.newer].older) = line.older;
    }

private:
    ConnectionIndex oldest_ = kNoConnection;
    ConnectionIndex newest_ = kNoConnection;
};

}  // namespace sluice
