#include "control/daemon/key_journal.hpp"

#include "control/daemon/author_json.hpp"
#include "control/daemon/kept_file.hpp"
#include "control/daemon/whole_number.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

namespace sluice {
namespace {

using nlohmann::json;

constexpr char kPrepared = 'p';
constexpr char kKept = 'k';
constexpr std::size_t kSumAt = 2;
constexpr std::size_t kSumSize = 16;
constexpr std::size_t kHead = kSumAt + kSumSize + 1;  // "k SUM "

Error journal_error(const std::string& what, const std::string& path) {
    return {Errc::Unreachable, what + " " + path + ": " + std::strerror(errno)};
}

bool write_at(int fd, std::string_view text, std::size_t at) {
    while (!text.empty()) {
        const ssize_t written = ::pwrite(fd, text.data(), text.size(), static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        at += static_cast<std::size_t>(written);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fdatasync(fd) == 0;
}

bool differ_in_keys_alone(const StoredRules& a, const StoredRules& b) {
    return a.file == b.file && a.text == b.text && a.modes == b.modes && a.lives == b.lives &&
           a.directory == b.directory && a.applied_by == b.applied_by && a.lists == b.lists &&
           a.sent == b.sent && a.slices == b.slices && a.note == b.note && a.on == b.on &&
           a.tenants == b.tenants && a.operators_generation == b.operators_generation;
}

struct Difference {
    std::vector<std::size_t> gone{};  // places in the settings before, ascending
    std::size_t stay = 0;             // how many settings come from there; behind them are new ones
};

Difference difference_of(const KeySettings& before, const KeySettings& next) {
    Difference difference;
    for (std::size_t at = 0; at < before.size(); ++at) {
        if (difference.stay < next.size() && next[difference.stay] == before[at]) {
            ++difference.stay;
        } else {
            difference.gone.push_back(at);
        }
    }
    return difference;
}

// Throws where the record does not fit what it follows; `rules` is then as it was.
void apply_record(const json& record, StoredRules& rules) {
    std::vector<std::size_t> gone;
    for (const json& place : record.at("gone")) {
        gone.push_back(whole_number_in<std::size_t>(place));
    }
    const json& put = record.at("put");
    const auto generation = whole_number_in<std::uint64_t>(record.at("generation"));
    const auto changed_at = whole_number_in<std::int64_t>(record.at("changed_at"));
    Author changed_by = read_author(record);
    KeySettings fresh = settings_from_json(put);
    if (!put.is_array() || fresh.size() != put.size()) {
        throw std::runtime_error("it sets what is no setting");
    }
    for (std::size_t i = 0; i < gone.size(); ++i) {
        if (gone[i] >= rules.keys.size() || (i > 0 && gone[i] <= gone[i - 1])) {
            throw std::runtime_error("it ends what was not set");
        }
    }
    if (rules.keys.size() - gone.size() + fresh.size() > kMaxKeySettings) {
        throw std::runtime_error("it sets more than there may be");
    }
    std::size_t next_gone = 0;
    std::size_t at = 0;
    std::erase_if(rules.keys, [&](const KeySetting&) {
        const bool ends = next_gone < gone.size() && gone[next_gone] == at;
        next_gone += ends ? 1 : 0;
        ++at;
        return ends;
    });
    rules.keys.insert(rules.keys.end(), std::make_move_iterator(fresh.begin()),
                      std::make_move_iterator(fresh.end()));
    rules.generation = generation;
    rules.changed_at = changed_at;
    rules.changed_by = std::move(changed_by);
}

// Reads a line that is whole, and committed.
json read_record(std::string_view line) {
    if (line.size() <= kHead || line[1] != ' ' || line[kHead - 1] != ' ' ||
        line.substr(kSumAt, kSumSize) != sum_of(line.substr(kHead))) {
        throw std::runtime_error("its checksum is another");
    }
    return json::parse(line.substr(kHead));
}

}  // namespace

std::optional<std::string> record_text(const StoredRules& before, const StoredRules& next,
                                       const std::string& base, std::size_t number) {
    if (!differ_in_keys_alone(before, next)) {
        return std::nullopt;
    }
    const Difference difference = difference_of(before.keys, next.keys);
    // Most of a record is what it puts; a great many are cheaper to write whole.
    if (next.keys.size() - difference.stay > KeyJournal::kMostRecords ||
        difference.gone.size() > KeyJournal::kMostRecords) {
        return std::nullopt;
    }
    const KeySettings put{next.keys.begin() + static_cast<std::ptrdiff_t>(difference.stay),
                          next.keys.end()};
    json record{{"base", base},
                {"number", number},
                {"generation", next.generation},
                {"changed_at", next.changed_at},
                {"changed_by", next.changed_by.uid},
                {"gone", difference.gone},
                {"put", settings_to_json(put)}};
    add_author(record, next.changed_by);
    const std::string text = record.dump(-1, ' ', false, json::error_handler_t::replace);
    if (kHead + text.size() + 1 > KeyJournal::kMostInRecord) {
        return std::nullopt;
    }
    return fmt::format("{} {} {}\n", kPrepared, sum_of(text), text);
}

JournalRead replay_records(std::string_view text, const std::string& base, StoredRules& rules) {
    JournalRead read;
    // A power cut may leave zeros where a record was being written.
    while (read.bytes < text.size() && text[read.bytes] != kPrepared && text[read.bytes] != '\0') {
        const std::string_view rest = text.substr(read.bytes);
        const std::size_t end = rest.find('\n');
        try {
            if (rest.front() != kKept || end == std::string_view::npos) {
                throw std::runtime_error("it is cut off, or no record");
            }
            const json record = read_record(rest.substr(0, end));
            if (record.at("base") != base) {
                return read;
            }
            if (record.at("number") != read.records || read.records == KeyJournal::kMostRecords) {
                throw std::runtime_error("it is out of its order");
            }
            apply_record(record, rules);
        } catch (const std::exception& reason) {
            read.fault = reason.what();
            return read;
        }
        read.bytes += end + 1;
        ++read.records;
    }
    return read;
}

KeyJournal::Pending::Pending(Pending&& other) noexcept
    : file_{std::move(other.file_)},
      journal_{std::exchange(other.journal_, nullptr)},
      bytes_{other.bytes_} {}

KeyJournal::Pending::~Pending() {
    if (journal_ != nullptr &&
        ::ftruncate(file_.get(), static_cast<off_t>(journal_->bytes_)) != 0) {
        journal_->leave();  // the next change is written whole
    }
}

Result<Done> KeyJournal::Pending::commit() {
    KeyJournal& journal = *std::exchange(journal_, nullptr);
    if (!write_at(file_.get(), {&kKept, 1}, journal.bytes_)) {
        journal.leave();
        return journal_error("cannot write", journal.path_);
    }
    journal.bytes_ += bytes_;
    ++journal.records_;
    return Done{};
}

std::optional<Result<KeyJournal::Pending>> KeyJournal::prepare(const StoredRules& before,
                                                               const StoredRules& next) {
    if (!base_ || records_ == kMostRecords) {
        return std::nullopt;
    }
    const std::optional<std::string> line = record_text(before, next, *base_, records_);
    if (!line || bytes_ + line->size() > kMostBytes) {
        return std::nullopt;
    }
    if (records_ == 0) {
        // Records of a base before, or what somebody else has put there.
        (void)::unlink(path_.c_str());
    }
    const int is_new = records_ == 0 ? O_CREAT | O_EXCL : 0;
    Fd file{::open(path_.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | is_new, 0600)};
    if (!file.is_open()) {
        return Result<Pending>{journal_error("cannot write", path_)};
    }
    Pending pending{std::move(file), *this, line->size()};
    return write_line(std::move(pending), *line);
}

Result<KeyJournal::Pending> KeyJournal::write_line(Pending pending, std::string_view line) const {
    // A record that was never committed may lie there.
    if (::ftruncate(pending.file(), static_cast<off_t>(bytes_)) != 0 ||
        !write_at(pending.file(), line, bytes_)) {
        return journal_error("cannot write", path_);
    }
    if (records_ == 0) {
        if (const Result<Done> synced = sync_folder_of(path_); !synced) {
            return synced.error();
        }
    }
    return pending;
}

Result<Done> KeyJournal::replay(const std::string& base, StoredRules& rules) {
    leave();
    records_ = 0;
    bytes_ = 0;
    const Result<std::optional<std::string>> text = read_kept_file(path_);
    if (!text) {
        return text.error();
    }
    const JournalRead read = replay_records(*text ? std::string_view{**text} : "", base, rules);
    if (!read.fault.empty()) {
        return put_aside(path_, read.fault);
    }
    base_ = base;
    records_ = read.records;
    bytes_ = read.bytes;
    return Done{};
}

void KeyJournal::begin(const std::string& base) {
    base_ = base;
    records_ = 0;
    bytes_ = 0;
    (void)::unlink(path_.c_str());
}

}  // namespace sluice
