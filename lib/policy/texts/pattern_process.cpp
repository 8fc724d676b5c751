#include "lib/policy/texts/pattern_process.hpp"

#include "lib/policy/texts/pattern.hpp"
#include "lib/policy/texts/pattern_cost.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include <fcntl.h>
#include <hs_common.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hs_compile.h>

namespace sluice {
namespace {

// Of processor time: for one pattern, and for all of them.
constexpr std::uint64_t kMicrosForOne = 1'000'000;
constexpr std::uint64_t kMicrosForAll = 1'500'000;
constexpr std::uint64_t kMicrosForEach = 50'000;  // as much more for all
// In real time, ten times as much: for a compiler that waits and does nothing.
constexpr std::uint64_t kPatience = 10;
// So many that each are quick are quick together.
constexpr std::size_t kFew = 64;

struct Free {
    void operator()(hs_database_t* database) const noexcept { (void)hs_free_database(database); }
    void operator()(char* bytes) const noexcept { std::free(bytes); }
    void operator()(hs_compile_error_t* error) const noexcept {
        (void)hs_free_compile_error(error);
    }
};

bool is_quick(const TextEntry& pattern) {
    return pattern.how != TextHow::Matches || is_quick_to_compile(cost_of(pattern.text));
}

// What comes from the other process: what it begins with, then what came of it.
enum class News : std::uint8_t { Pattern, All, Database, Refusal };
struct NewsHeader {
    News news{};
    bool has_pattern = false;
    std::uint32_t pattern = 0;
    std::uint64_t size = 0;  // of the bytes behind it: the database, or a message
};

class Teller {
public:
    explicit Teller(int pipe) : pipe_{pipe} {}

    void tell(const NewsHeader& header, ByteView bytes = {}) const noexcept {
        put(std::as_bytes(std::span{&header, 1}));
        put(bytes);
    }

private:
    void put(ByteView bytes) const noexcept {
        while (!bytes.empty()) {
            const ssize_t written = write(pipe_, bytes.data(), bytes.size());
            if (written < 0 && errno != EINTR) {
                _exit(1);  // nobody reads it any more
            }
            bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
        }
    }

    int pipe_;
};

void set_timer(__itimer_which which, std::uint64_t micros) noexcept {
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(micros / 1'000'000);
    timer.it_value.tv_usec = static_cast<suseconds_t>(micros % 1'000'000);
    (void)setitimer(which, &timer, nullptr);
}

std::uint64_t left_of_timer() noexcept {
    itimerval timer{};
    (void)getitimer(ITIMER_PROF, &timer);
    return static_cast<std::uint64_t>(timer.it_value.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(timer.it_value.tv_usec);
}

// The processor time that this process may still take: when it is over, SIGPROF ends it.
class Budget {
public:
    explicit Budget(std::size_t patterns) noexcept
        : left_{kMicrosForAll + patterns * kMicrosForEach} {
        set_timer(ITIMER_REAL, left_ * kPatience);
    }

    template <typename Work>
    void spend_on_one(Work work) {
        const std::uint64_t given = std::min(left_, kMicrosForOne);
        set_timer(ITIMER_PROF, given);
        work();
        left_ -= given - std::min(left_of_timer(), given);
        left_ = std::max<std::uint64_t>(left_, 1);
    }
    void spend_one() const noexcept { set_timer(ITIMER_PROF, std::min(left_, kMicrosForOne)); }
    void spend_rest() const noexcept { set_timer(ITIMER_PROF, left_); }

private:
    std::uint64_t left_;
};

// Of what the caller was doing nothing goes on here.
void leave_the_parent() noexcept {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    (void)sigemptyset(&none);
    for (const int signal : {SIGPROF, SIGALRM, SIGTERM, SIGINT, SIGPIPE}) {
        (void)std::signal(signal, SIG_DFL);
    }
    (void)sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Where the pipe's end is, and no other file is held open.
int keep_only(int pipe) noexcept {
    constexpr int kPipe = 3;
    const int end = pipe == kPipe ? pipe : dup2(pipe, kPipe);
    (void)close_range(kPipe + 1, ~0U, 0);
    return end;
}

// What is thrown (there is no memory) ends the process: nothing of the caller is unwound here.
// NOLINTNEXTLINE(bugprone-exception-escape)
[[noreturn]] void run_child(const std::vector<TextEntry>& patterns, int pipe) noexcept {
    leave_the_parent();
    const Teller teller{keep_only(pipe)};
    Budget budget{patterns.size()};
    const bool alone = patterns.size() == 1;  // then to compile it is to compile all
    for (std::uint32_t i = 0; i < patterns.size() && !alone; ++i) {
        if (is_quick(patterns[i])) {
            continue;
        }
        teller.tell({News::Pattern, true, i, 0});
        // What it is refused for is found again below.
        budget.spend_on_one([&] { (void)compile_here({patterns[i]}); });
    }
    teller.tell({alone ? News::Pattern : News::All, alone, 0, 0});
    if (alone) {
        budget.spend_one();
    } else {
        budget.spend_rest();
    }
    const CompiledPatterns made = compile_here(patterns);
    if (const auto* refusal = std::get_if<PatternRefusal>(&made)) {
        const auto at =
            std::find(patterns.begin(), patterns.end(), refusal->pattern.value_or(TextEntry{}));
        teller.tell({News::Refusal, refusal->pattern.has_value(),
                     static_cast<std::uint32_t>(at - patterns.begin()), refusal->what.size()},
                    bytes_of(refusal->what));
    } else {
        const auto& bytes = std::get<std::vector<std::byte>>(made);
        teller.tell({News::Database, false, 0, bytes.size()}, bytes);
    }
    _exit(0);
}

// False: the other end is gone.
bool read_all(int pipe, std::span<std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t got = read(pipe, bytes.data(), bytes.size());
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    return true;
}

PatternRefusal took_too_long(const NewsHeader& last, const std::vector<TextEntry>& patterns) {
    if (last.has_pattern) {
        return {"this regular expression takes too long to compile: more than " +
                    std::to_string(kMicrosForOne / 1000) +
                    " ms, or what is left of the time for all; its repeats, such as .{1,1000}, "
                    "are too many or too large",
                patterns[last.pattern]};
    }
    return {"the patterns take too long to compile together: more than " +
                std::to_string((kMicrosForAll + patterns.size() * kMicrosForEach) / 1000) + " ms",
            {}};
}

CompiledPatterns listen(int pipe, const std::vector<TextEntry>& patterns) {
    NewsHeader last;
    NewsHeader header;
    while (read_all(pipe, std::as_writable_bytes(std::span{&header, 1}))) {
        if (header.news == News::Pattern || header.news == News::All) {
            last = header;
            continue;
        }
        std::vector<std::byte> bytes(header.size);
        if (!read_all(pipe, bytes)) {
            break;
        }
        if (header.news == News::Database) {
            return bytes;
        }
        PatternRefusal refusal{{reinterpret_cast<const char*>(bytes.data()), bytes.size()}, {}};
        if (header.has_pattern) {
            refusal.pattern = patterns[header.pattern];
        }
        return refusal;
    }
    return took_too_long(last, patterns);
}

CompiledPatterns compile_apart(const std::vector<TextEntry>& patterns) {
    std::array<int, 2> ends{};
    CompiledPatterns made = PatternRefusal{
        "there is no process, or no memory, for compiling the patterns", std::nullopt};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return made;
    }
    const pid_t child = fork();
    if (child == 0) {
        run_child(patterns, ends[1]);
    }
    (void)close(ends[1]);
    if (child > 0) {
        made = listen(ends[0], patterns);
        (void)waitpid(child, nullptr, 0);
    }
    (void)close(ends[0]);
    return made;
}

}  // namespace

CompiledPatterns compile_patterns(const std::vector<TextEntry>& patterns) {
    const bool quick =
        patterns.size() <= kFew && std::all_of(patterns.begin(), patterns.end(), is_quick);
    return quick ? compile_here(patterns) : compile_apart(patterns);
}

CompiledPatterns compile_here(const std::vector<TextEntry>& patterns) {
    std::vector<std::string> expressions;
    std::vector<unsigned> flags;
    std::vector<unsigned> ids;
    for (const TextEntry& pattern : patterns) {
        expressions.push_back(expression_of(pattern));
        flags.push_back(flags_of(pattern));
        ids.push_back(static_cast<unsigned>(ids.size()));
    }
    std::vector<const char*> texts;
    texts.reserve(expressions.size());
    for (const std::string& expression : expressions) {
        texts.push_back(expression.c_str());
    }
    hs_database_t* database = nullptr;
    hs_compile_error_t* error = nullptr;
    const hs_error_t code =
        hs_compile_multi(texts.data(), flags.data(), ids.data(), static_cast<unsigned>(ids.size()),
                         HS_MODE_BLOCK, nullptr, &database, &error);
    const std::unique_ptr<hs_database_t, Free> made{database};
    const std::unique_ptr<hs_compile_error_t, Free> why{error};
    if (code != HS_SUCCESS) {
        PatternRefusal refusal{fault_of(why ? why->message : "no memory").what, {}};
        if (why && why->expression >= 0) {
            refusal.pattern = patterns[static_cast<std::size_t>(why->expression)];
        }
        return refusal;
    }
    char* bytes = nullptr;
    std::size_t size = 0;
    if (hs_serialize_database(made.get(), &bytes, &size) != HS_SUCCESS) {
        return PatternRefusal{"there is no memory for the patterns", {}};
    }
    const std::unique_ptr<char, Free> written{bytes};
    const ByteView view = std::as_bytes(std::span{bytes, size});
    return std::vector<std::byte>{view.begin(), view.end()};
}

}  // namespace sluice
