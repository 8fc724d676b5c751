#pragma once
#include "control/daemon/rules_file.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/fd.hpp"

#include <sys/types.h>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Changes of single keys' settings since rules.json was written, beside it: one more ban costs the
// disk its own record, however many there are. A record is a line,
//
//   k SUM {"base":…,"number":…,"generation":…,"changed_at":…,"changed_by":…,"gone":[…],"put":[…]}
//
// `base` being the sum of the rules.json that it belongs to: the records of another are void, so
// that writing rules.json whole ends them at once. A record counts from the instant its first byte
// is `k` on; prepared, it has `p`. All are bounded: what would be too much is written whole.
class KeyJournal {
public:
    static constexpr std::size_t kMostRecords = 256;
    static constexpr std::size_t kMostBytes = std::size_t{1} << 18;
    static constexpr std::size_t kMostInRecord = std::size_t{1} << 15;

    explicit KeyJournal(std::string path) : path_{std::move(path)} {}

    // A record that is safe on the disk, and counts from commit() on. Without it nothing has
    // changed.
    class Pending {
    public:
        Pending(Fd file, KeyJournal& journal, std::size_t bytes) noexcept
            : file_{std::move(file)}, journal_{&journal}, bytes_{bytes} {}
        Pending(Pending&& other) noexcept;
        Pending& operator=(Pending&&) = delete;
        ~Pending();
        [[nodiscard]] Result<Done> commit();
        [[nodiscard]] int file() const noexcept { return file_.get(); }

    private:
        Fd file_;
        KeyJournal* journal_;  // nullptr: committed, or moved away
        std::size_t bytes_;
    };

    // nullopt: the difference is not of single keys alone, it is too large, or the records are as
    // many as they may be.
    [[nodiscard]] std::optional<Result<Pending>> prepare(const StoredRules& before,
                                                         const StoredRules& next);

    // Brings the rules of the file with that sum up to the last record, and goes on behind it. An
    // Error: a record is damaged; those before it count, and nothing goes on here.
    [[nodiscard]] Result<Done> replay(const std::string& base, StoredRules& rules);
    // rules.json has been written whole, with this sum: the records before are void.
    void begin(const std::string& base);
    // Leaves the journal: the kept set is another than the disk has, and nothing goes on here.
    void leave() noexcept { base_.reset(); }

    [[nodiscard]] bool has_records() const noexcept { return records_ != 0; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    [[nodiscard]] Result<Pending> write_line(Pending pending, std::string_view line) const;

    std::string path_;
    std::optional<std::string> base_{};  // nullopt: not in step with the disk
    std::size_t records_ = 0;
    std::size_t bytes_ = 0;  // of them
};

// The line of a record; nullopt: the difference is not of single keys alone.
[[nodiscard]] std::optional<std::string> record_text(const StoredRules& before,
                                                     const StoredRules& next,
                                                     const std::string& base, std::size_t number);

// Records of a base, as far as they are whole.
struct JournalRead {
    std::size_t records = 0;
    std::size_t bytes = 0;
    std::string fault{};  // of the record behind them; empty: none, or it was never committed
};
[[nodiscard]] JournalRead replay_records(std::string_view text, const std::string& base,
                                         StoredRules& rules);

}  // namespace sluice
