#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice {

// A place in a text. Lines and columns count from 1; 0 means the whole file.
struct Position {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
};

enum class Severity : std::uint8_t { Warning, Error };

struct Problem {
    std::string file;
    Position at;
    Severity severity = Severity::Error;
    std::string message;
};

// For those to whom a warning is reason enough to refuse.
void make_warnings_errors(std::vector<Problem>& problems);

// The beginning of a file in a text that is several files, one after the other.
struct FileStart {
    std::string file;
    std::uint32_t line = 1;
};

// The problems of a text, collected so that one run shows everything, and each thing once. A
// hostile text may have a fault in every byte, so both the list and what it quotes are bounded.
class Problems {
public:
    static constexpr std::size_t kMaxShown = 1000;   // of each severity
    static constexpr std::size_t kMaxMessage = 400;  // bytes

    // `stop`: who reads the text ends as soon as it is requested.
    explicit Problems(std::string file, std::stop_token stop = {})
        : file_{std::move(file)}, stop_{std::move(stop)} {}

    // Splits the text, from here on, into these files, of which there is one at least: a place in
    // it is shown as the place in its file.
    void split(std::vector<FileStart> files) { files_ = std::move(files); }
    // True if it is that of several files.
    [[nodiscard]] bool is_split() const noexcept { return !files_.empty(); }
    // The file that holds a place of the text.
    [[nodiscard]] const std::string& file_of(Position at) const noexcept;
    // The same place by the lines of that file.
    [[nodiscard]] Position in_file(Position at) const noexcept;
    // FILE:LINE:COLUMN.
    [[nodiscard]] std::string place_text(Position at) const;

    void error(Position at, std::string message);
    void warning(Position at, std::string message);
    // In another file that the text names.
    void error_in(const std::string& file, Position at, std::string message);

    // True if the work is to end now, whatever it has: an error then says so. Long loops ask it
    // every few thousand steps (StopCheck).
    [[nodiscard]] bool are_interrupted();
    [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }

    // By their places; files stay in the order in which they were first found at fault, and what
    // has no place comes last.
    void sort_by_place();

    [[nodiscard]] bool has_errors() const noexcept { return errors_ != 0; }
    // True if further errors are only counted, so that their texts need not be made.
    [[nodiscard]] bool is_full() const noexcept { return shown_errors_ > kMaxShown; }
    [[nodiscard]] const std::vector<Problem>& list() const noexcept { return list_; }

private:
    void add(Problem problem);

    [[nodiscard]] const FileStart* start_of(Position at) const noexcept;

    std::string file_;
    std::vector<FileStart> files_;  // none: it is one file
    std::stop_token stop_;
    std::vector<Problem> list_;
    std::set<std::tuple<std::string, std::uint32_t, std::uint32_t, Severity, std::string>> seen_;
    std::size_t errors_ = 0;
    std::size_t shown_errors_ = 0;
    std::size_t shown_warnings_ = 0;
};

// Asks a stop token every kStepsAtOnce-th time.
class StopCheck {
public:
    static constexpr std::uint32_t kStepsAtOnce = 4096;

    explicit StopCheck(std::stop_token stop) : stop_{std::move(stop)} {}
    [[nodiscard]] bool is_requested() noexcept {
        return ++steps_ % kStepsAtOnce == 0 && stop_.stop_requested();
    }

private:
    std::stop_token stop_;
    std::uint32_t steps_ = 0;
};

// `RULES:LINE:COLUMN: error: …`, the source line, and a caret under the column (tabs kept, bytes
// outside printable ASCII and UTF-8 shown as \xNN). Of a very long line the part around the column
// is shown, between `...`.
[[nodiscard]] std::string render(const Problem& problem, std::string_view text);

}  // namespace sluice
