#include "control/cli/long_work.hpp"

#include "control/cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace sluice {
std::string progress_text(std::string_view what, std::uint64_t done, std::uint64_t whole,
                          std::chrono::seconds passed) {
    const auto seconds = static_cast<std::uint64_t>(passed.count());
    if (whole == 0) {
        return done == 0 ? fmt::format("{}: {} s", what, seconds)
                         : fmt::format("{}: {}, {} s", what, memory_text(done), seconds);
    }
    const std::uint64_t so_far = std::min(done, whole);
    const double share = static_cast<double>(so_far) / static_cast<double>(whole);
    std::string text = fmt::format("{}: {} % of {}, {} s", what, static_cast<unsigned>(share * 100),
                                   memory_text(whole), seconds);
    if (so_far != 0) {
        const double left = static_cast<double>(seconds) * (1 - share) / share;
        text += fmt::format(", about {:.0f} s left", left);
    }
    return text;
}

LongWork::LongWork(std::string what, std::uint64_t whole, Beside beside)
    : what_{std::move(what)}, whole_{whole} {
    const bool is_shown = ::isatty(STDERR_FILENO) != 0 &&
                          (beside == Beside::AnyOutput || ::isatty(STDOUT_FILENO) == 0);
    if (is_shown) {
        shows_ = std::jthread{[this](const std::stop_token& stop) { show(stop); }};
    }
}

LongWork::~LongWork() {
    shows_ = {};  // ends and joins it
}

void LongWork::show(const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds kFirst{1};
    constexpr std::chrono::milliseconds kPause{500};
    constexpr const char* kClear = "\r\033[K";  // the beginning of the line, and all behind it
    const Clock::time_point begin = Clock::now();
    std::unique_lock lock{mutex_};
    bool has_shown = false;
    const auto ends = [&stop] { return stop.stop_requested(); };
    for (bool over = ended_.wait_for(lock, stop, kFirst, ends); !over && !stop.stop_requested();
         over = ended_.wait_for(lock, stop, kPause, ends)) {
        const auto passed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin);
        const std::string text = progress_text(what_, load_word(done_), whole_, passed);
        fmt::print(stderr, "{}{}", kClear, text);
        std::fflush(stderr);
        has_shown = true;
    }
    if (has_shown) {
        fmt::print(stderr, "{}", kClear);
        std::fflush(stderr);
    }
}

std::uint64_t capture_size(const std::string& path) {
    std::error_code error;
    const std::uintmax_t size =
        std::filesystem::is_regular_file(path, error) ? std::filesystem::file_size(path, error) : 0;
    return error ? 0 : size;
}

}  // namespace sluice
