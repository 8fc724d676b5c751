#pragma once
#include "lib/wire/preview_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

// Packets that a box shows of a preview, gathered until they are judged. Where there are more than
// it has room for, keys are sampled by one bit more, and what has come of the others is dropped.
class PreviewLog {
public:
    static constexpr std::size_t kMostRecords = std::size_t{1} << 20;
    static constexpr std::size_t kMostNames = 200'000;
    // Packets, or units, that a record can be of: no link brings as many in its time.
    static constexpr std::uint64_t kMostOfRecord = std::uint64_t{1} << 24;

    // Packets within [from, to) of UTC, in ns, count. `has_key`: false of a draft with one bucket.
    PreviewLog(std::int64_t from, std::int64_t to, bool has_key, std::size_t most = kMostRecords)
        : from_{from}, to_{to}, has_key_{has_key}, most_{most} {}

    void add(PreviewedPackets shown);
    // In the order of their times, as they are judged.
    [[nodiscard]] const std::vector<PreviewRecord>& sorted();
    // Drops half of the keys: all that is shown is more than can be judged. False: there is one
    // bucket.
    bool halve();

    // The bits that keys are sampled by.
    [[nodiscard]] std::uint8_t bits() const noexcept { return bits_; }
    [[nodiscard]] const PreviewedPackets& latest() const noexcept { return latest_; }
    // Packets of one bucket, or of keys that are still sampled, for which nobody had room.
    [[nodiscard]] std::uint64_t left_out() const noexcept { return latest_.left_out + dropped_; }
    // "": it has no name here.
    [[nodiscard]] std::string name_of(std::uint64_t digest) const;

private:
    [[nodiscard]] bool is_sampled(std::uint64_t digest) const noexcept {
        return !has_key_ || digest <= ~std::uint64_t{0} >> bits_;
    }
    void raise_to(std::uint8_t bits);

    std::int64_t from_;
    std::int64_t to_;
    bool has_key_;
    std::size_t most_;
    std::uint8_t bits_ = 0;
    std::uint64_t dropped_ = 0;
    PreviewedPackets latest_;
    std::vector<PreviewRecord> records_;
    std::unordered_map<std::uint64_t, std::string> names_;
};

}  // namespace sluice
