#pragma once
#include "lib/policy/overrides/override_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace sluice {

// A row of `overrides` about a single key: an override's origin, for people.
struct NamedRow {
    OverridePlace place;
    bool exempt = false;
    std::uint8_t limit = 0;                       // in the rule, where it is not exempt
    Nanoseconds until = kForever;                 // UTC
    std::shared_ptr<const std::string> reason{};  // as a file's row has it; nullptr: none
};

// Rows of single keys that the rule file and its override file have, in order. They share the
// builder's memory; bans and settings made at run time are known elsewhere, and passed over.
class NamedRows {
public:
    // `rows` are in order.
    explicit NamedRows(OverrideRows rows) : rows_{std::move(rows)} {}

    // The rows of a key, given by its canonical bytes, in the order of their texts, without those
    // that a setting made at run time has replaced.
    template <typename Visit>
    void each_of(std::uint8_t key, ByteView bytes, Visit&& visit) const {
        const std::span<const OverrideRows::Row> rows = of_key(key, bytes);
        for (const OverrideRows::Row& row : rows) {
            if (is_named(row) && !is_replaced(row, rows)) {
                visit(named(row));
            }
        }
    }
    // All rows, with the rule's key and its bytes. It ends where `visit` says false.
    template <typename Visit>
    void each(Visit&& visit) const {
        for (const OverrideRows::Row& row : rows_.rows) {
            if (is_named(row) && !visit(row.key, rows_.bytes_of(row), named(row))) {
                return;
            }
        }
    }
    // True if there is a row that would be visited.
    [[nodiscard]] bool has_any() const noexcept;

private:
    [[nodiscard]] bool is_named(const OverrideRows::Row& row) const noexcept {
        return row.place.source != OverrideSource::RunTime && !rows_.pieces[row.piece].banned;
    }
    [[nodiscard]] std::span<const OverrideRows::Row> of_key(std::uint8_t key,
                                                            ByteView bytes) const noexcept;
    [[nodiscard]] bool is_replaced(const OverrideRows::Row& row,
                                   std::span<const OverrideRows::Row> of_key) const noexcept;
    [[nodiscard]] NamedRow named(const OverrideRows::Row& row) const;

    OverrideRows rows_;
};

// `line 2 of the override file`.
[[nodiscard]] std::string text_of(const OverridePlace& place);

}  // namespace sluice
