#include "lib/match/classifier.hpp"
#include "lib/packet/parse_columns.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/texts/pattern_compiler.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/packets/frame.hpp"

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

// A thousand rules that each ask a text of the payload: what matching a packet costs beside
// scanning the same payloads alone. And a list of ten thousand words beside ten regular
// expressions, over what browsers call themselves. Prints one JSON object a line.
namespace sluice::bench {
namespace {

constexpr std::size_t kRules = 1000;
constexpr std::size_t kPackets = 4096;
constexpr std::size_t kPayload = 300;  // bytes

std::string word(std::mt19937_64& random, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        text += static_cast<char>('a' + random() % 26);
    }
    return text;
}

// Two in three are patterns to scan for; the others beginnings, ends and wholes.
std::string rules_with_texts(std::mt19937_64& random) {
    std::string file = "version: 1\nrules:\n";
    for (std::size_t i = 0; i < kRules; ++i) {
        const std::string text = word(random, 6 + random() % 8);
        const std::string tests[] = {"payload contains \"" + text + "\"",
                                     "lower(payload) contains \"" + text + "\"",
                                     "payload matches \"" + text + "=[0-9]{2,6}&\"",
                                     "payload contains \"" + text + "\" and l4.dport eq 53",
                                     "starts_with(payload, \"" + text + "\")",
                                     "payload in {\"" + text + "\" \"x\"}"};
        file += "  - {id: r" + std::to_string(i) + ", mode: enforce, on_match: drop, when: '" +
                tests[i % std::size(tests)] + "'}\n";
    }
    return file;
}

RuleSet compile(const std::string& text, const ListReader* lists = nullptr) {
    Problems problems{"bench"};
    auto compiled = compile_rules({"bench", text, lists}, Purpose::Enforce, {}, problems);
    if (!compiled) {
        std::fprintf(stderr, "%s\n", render(problems.list().front(), text).c_str());
        std::exit(1);
    }
    return std::move(compiled->set);
}

// Frames with room behind them, as those of a port have it, in parsed bursts.
struct Samples {
    struct Parsed {
        FrameColumns frames;
        HeaderColumns columns;
    };
    // `next()` is the payload of the next packet.
    template <typename Text>
    explicit Samples(Text&& next) : bytes(kPackets), bursts(kPackets / kMaxBurst) {
        for (std::size_t i = 0; i < kPackets; ++i) {
            const std::string text = next();
            const ByteView view = bytes_of(text);
            bytes[i] = test::udp().dport(80).carries({view.begin(), view.end()}).bytes();
            const auto size = static_cast<std::uint32_t>(bytes[i].size());
            bytes[i].resize(size + kTextPadding);
            bursts[i / kMaxBurst].frames.add(ByteView{bytes[i]}.first(size), size);
        }
        for (Parsed& burst : bursts) {
            burst.frames.readable_behind = kTextPadding;
            burst.columns.set_ingress(Direction::In, 0);
            parse_columns(burst.frames, {}, burst.columns);
        }
    }
    std::vector<test::Octets> bytes;
    std::vector<Parsed> bursts;
};

std::size_t matched = 0;

void match_all(const Classifier& classifier, const Samples& all, TextScratch& scratch) {
    static RuleMatches matches;
    for (const auto& [frames, columns] : all.bursts) {
        classifier.match_headers(columns, columns.rows(), matches);
        classifier.match_texts(frames, columns, columns.rows(), scratch, matches);
        for (const RuleMatch& one : matches.matched()) {
            matched += static_cast<std::size_t>(std::popcount(one.rows));
        }
    }
}

struct Alone {
    explicit Alone(const TextParts& parts)
        : database{*PatternDatabase::load(parts.databases.at(0).bytes)},
          hits{parts.databases.at(0).entries.size()} {
        (void)scratch.fit(database);
    }
    void scan_all(const Samples& all) {
        for (const auto& [frames, columns] : all.bursts) {
            for (std::size_t row = 0; row < kMaxBurst; ++row) {
                hits.clear();
                const ByteView text = *read_payload(columns.headers(row), frames.frame(row).bytes);
                database.scan(padding.pad(text, kTextPadding), scratch, hits);
                matched += hits.found().size();
            }
        }
    }
    PatternDatabase database;
    PatternScratch scratch;
    PatternHits hits;
    PaddingBuffer padding;
};

int run_rules() {
    std::mt19937_64 random{3};
    const std::string text = rules_with_texts(random);
    const auto begin = std::chrono::steady_clock::now();
    RuleSet set = compile(text);
    set.classifier.make_fast();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const TextParts& parts = set.classifier.parts().texts;
    std::printf(
        "{\"id\": \"X1\", \"case\": \"1,000 rules over payload\", \"patterns\": %zu, "
        "\"database_bytes\": %zu, \"compiled_in_s\": %.3f}\n",
        parts.databases.at(0).entries.size(), parts.databases.at(0).bytes.size(), took.count());
    const Samples all{[&] { return word(random, kPayload); }};
    const auto scratch = TextScratch::make(set.classifier.texts());
    Alone alone{parts};
    std::vector<Side> sides{
        {"matched",
         [&] { return ns_per(kPackets, [&] { match_all(set.classifier, all, **scratch); }); }},
        {"scanned", [&] { return ns_per(kPackets, [&] { alone.scan_all(all); }); }}};
    run_rounds(sides, 9);
    std::printf(
        "{\"id\": \"X1\", \"case\": \"1,000 rules over payloads of %zu bytes\", \"value\": %.1f, "
        "\"unit\": \"ns\", \"reference\": \"hs_scan alone\", \"reference_value\": %.1f, "
        "\"ratio\": %.3f, \"rounds\": %s}\n",
        kPayload, sides[0].median(), sides[1].median(), sides[0].median() / sides[1].median(),
        list_of(sides[0].rounds).c_str());
    std::fprintf(stderr, "%zu matches\n", matched);  // so that nothing is left out
    return 0;
}

// The name of a browser, of some version.
std::string user_agent(std::mt19937_64& random) {
    const char* const systems[] = {"X11; Linux x86_64", "Windows NT 10.0; Win64; x64",
                                   "Macintosh; Intel Mac OS X 10_15_7",
                                   "Linux; Android 14; Pixel 8"};
    return "Mozilla/5.0 (" + std::string{systems[random() % std::size(systems)]} +
           ") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/" +
           std::to_string(100 + random() % 40) + ".0.0.0 Safari/537.36";
}

std::string rule_when(const std::string& when) {
    return "version: 1\ndata: {lists: {words: {type: string, file: words}}}\nrules:\n"
           "  - {id: a, mode: enforce, on_match: drop, when: '" +
           when + "'}\n";
}

std::string any_of_patterns(std::mt19937_64& random) {
    std::string when;
    for (std::size_t i = 0; i < 10; ++i) {
        when +=
            (i == 0 ? "" : " or ") + ("lower(payload) matches \"" + word(random, 6)) + "/[0-9]+\"";
    }
    return when;
}

// The cost of a list of words beside that of ten patterns, and how long it takes to be compiled.
int run_list() {
    constexpr std::size_t kWords = 10'000;
    std::mt19937_64 random{4};
    std::string words;
    for (std::size_t i = 0; i < kWords; ++i) {
        words += word(random, 6 + random() % 8) + "\n";
    }
    const ListReader files = [&](const std::string&) -> Result<ListFile> {
        return ListFile{"words", std::make_shared<const std::string>(words)};
    };
    RuleSet ten = compile(rule_when(any_of_patterns(random)), &files);
    const auto begin = std::chrono::steady_clock::now();
    RuleSet list = compile(rule_when("lower(payload) contains $words"), &files);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf(
        "{\"id\": \"X2\", \"case\": \"contains, a list of 10,000 words\", \"patterns\": %zu, "
        "\"database_bytes\": %zu, \"compiled_in_s\": %.3f}\n",
        list.classifier.parts().texts.databases.at(0).entries.size(),
        list.classifier.parts().texts.databases.at(0).bytes.size(), took.count());
    list.classifier.make_fast();
    ten.classifier.make_fast();
    const Samples all{[&] { return user_agent(random); }};
    const auto of_list = TextScratch::make(list.classifier.texts());
    const auto of_ten = TextScratch::make(ten.classifier.texts());
    std::vector<Side> sides{
        {"list",
         [&] { return ns_per(kPackets, [&] { match_all(list.classifier, all, **of_list); }); }},
        {"ten",
         [&] { return ns_per(kPackets, [&] { match_all(ten.classifier, all, **of_ten); }); }}};
    run_rounds(sides, 9);
    std::printf(
        "{\"id\": \"X2\", \"case\": \"contains, a list of 10,000 words, over user agents\", "
        "\"value\": %.3f, \"unit\": \"M texts/s\", \"reference\": \"ten patterns by matches\", "
        "\"reference_value\": %.3f, \"ratio\": %.3f}\n",
        1000 / sides[0].median(), 1000 / sides[1].median(), sides[1].median() / sides[0].median());
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main() {
    const int first = sluice::bench::run_rules();
    return first != 0 ? first : sluice::bench::run_list();
}
