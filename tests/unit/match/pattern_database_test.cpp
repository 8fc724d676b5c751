#include "lib/match/pattern_database.hpp"

#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <hs.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::pattern_database_test {
namespace {

// Patterns of the kinds that rules have, as Hyperscan writes them.
std::vector<std::byte> serialised(const std::vector<std::string>& patterns) {
    std::vector<const char*> texts;
    std::vector<unsigned> flags;
    std::vector<unsigned> ids;
    for (const std::string& pattern : patterns) {
        texts.push_back(pattern.c_str());
        flags.push_back(HS_FLAG_SINGLEMATCH | HS_FLAG_ALLOWEMPTY);
        ids.push_back(static_cast<unsigned>(ids.size()));
    }
    hs_database_t* database = nullptr;
    hs_compile_error_t* error = nullptr;
    EXPECT_EQ(
        hs_compile_multi(texts.data(), flags.data(), ids.data(), static_cast<unsigned>(ids.size()),
                         HS_MODE_BLOCK, nullptr, &database, &error),
        HS_SUCCESS);
    char* bytes = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(hs_serialize_database(database, &bytes, &size), HS_SUCCESS);
    const ByteView view = std::as_bytes(std::span{bytes, size});
    std::vector<std::byte> out{view.begin(), view.end()};
    std::free(bytes);
    (void)hs_free_database(database);
    return out;
}

struct Loaded {
    explicit Loaded(const std::vector<std::string>& patterns)
        : database{*PatternDatabase::load(serialised(patterns))}, hits{patterns.size()} {
        EXPECT_TRUE(scratch.fit(database));
    }
    std::set<std::uint32_t> find(ByteView text, std::size_t readable_behind = 0) {
        hits.clear();
        database.scan(padding.pad(text, readable_behind), scratch, hits);
        return {hits.found().begin(), hits.found().end()};
    }
    PatternDatabase database;
    PatternScratch scratch;
    PatternHits hits;
    PaddingBuffer padding;
};

using Found = std::set<std::uint32_t>;

TEST(PatternDatabase, FindsEachPatternOnce) {
    Loaded loaded{{"abc", "b+", "^$", "x", "c\\z"}};
    EXPECT_EQ(loaded.find(bytes_of("abcabcbb")), (Found{0, 1}));
    EXPECT_EQ(loaded.find(bytes_of("abc")), (Found{0, 1, 4}));
    EXPECT_EQ(loaded.find(bytes_of("")), (Found{2}));
    EXPECT_EQ(loaded.find({}), (Found{2}));
    EXPECT_EQ(loaded.find(bytes_of("xx")), (Found{3}));
    EXPECT_EQ(loaded.find(bytes_of("q")), Found{});
}

TEST(PatternDatabase, RefusesWhatIsCorruptOrAnothersWithAReason) {
    const std::vector<std::byte> good = serialised({"abc", "b+d"});
    struct Row {
        std::size_t at;
        const char* says;
    };
    // The header: magic, version, length, then the CPU it is for, then a checksum.
    const Row rows[] = {{0, "corrupt"},      {4, "another version"}, {8, "corrupt"},
                        {12, "another CPU"}, {20, "corrupt"},        {200, "corrupt"}};
    for (const Row& row : rows) {
        std::vector<std::byte> bad = good;
        bad[row.at] ^= std::byte{1};
        const Result<PatternDatabase> loaded = PatternDatabase::load(bad);
        ASSERT_FALSE(loaded) << row.at;
        EXPECT_NE(loaded.error().what.find(row.says), std::string::npos)
            << row.at << ": " << loaded.error().what;
    }
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(PatternDatabase::load(ByteView{good}.first(size))) << size;
    }
}

// Two pages, of which the second cannot be read.
class Edge {
public:
    Edge()
        : page_{static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))},
          memory_{static_cast<std::byte*>(::mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))} {
        EXPECT_EQ(::mprotect(memory_ + page_, page_, PROT_NONE), 0);
    }
    ~Edge() { (void)::munmap(memory_, 2 * page_); }
    Edge(const Edge&) = delete;
    Edge& operator=(const Edge&) = delete;

    // The text, its last byte the last that can be read.
    ByteView put(const std::string& text) {
        std::byte* at = memory_ + page_ - text.size();
        std::memcpy(at, text.data(), text.size());
        return {at, text.size()};
    }

private:
    std::size_t page_;
    std::byte* memory_;
};

// Four of the usual kinds.
std::vector<std::string> random_patterns(std::mt19937& random) {
    const auto word = [&random](std::size_t size) {
        std::string text;
        for (std::size_t i = 0; i < size; ++i) {
            text += static_cast<char>('a' + random() % 26);
        }
        return text;
    };
    return {word(1 + random() % 10), word(3) + "[0-9]+" + word(4), word(4) + ".*" + word(5),
            word(2) + "[a-f]{3,20}"};
}

// One of each size.
std::vector<std::string> random_texts(std::mt19937& random, const std::string& end) {
    std::vector<std::string> texts;
    for (std::size_t size = 1; size < 200; ++size) {
        std::string text;
        for (std::size_t i = 0; i < size; ++i) {
            text += static_cast<char>('a' + random() % 26);
        }
        texts.push_back(random() % 2 == 0 ? text : text + end);
    }
    return texts;
}

int nothing(unsigned /*id*/, unsigned long long /*from*/, unsigned long long /*to*/,
            unsigned /*flags*/, void* /*context*/) {
    return 0;
}

// Whether hs_scan() itself, in a child, dies of reading behind one of the texts.
bool dies_bare(const std::vector<std::byte>& bytes, const std::vector<std::string>& texts,
               Edge& edge) {
    hs_database_t* database = nullptr;
    hs_scratch_t* scratch = nullptr;
    EXPECT_EQ(hs_deserialize_database(reinterpret_cast<const char*>(bytes.data()), bytes.size(),
                                      &database),
              HS_SUCCESS);
    EXPECT_EQ(hs_alloc_scratch(database, &scratch), HS_SUCCESS);
    const pid_t child = ::fork();
    if (child == 0) {
        (void)std::signal(SIGSEGV, SIG_DFL);
        for (const std::string& text : texts) {
            const ByteView at_the_edge = edge.put(text);
            (void)hs_scan(database, reinterpret_cast<const char*>(at_the_edge.data()),
                          static_cast<unsigned>(text.size()), 0, scratch, nothing, nullptr);
        }
        ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    (void)hs_free_scratch(scratch);
    (void)hs_free_database(database);
    return WIFSIGNALED(status);
}

// Hyperscan 5.4.0 with AVX-512 reads behind the end of what it is given; ours never gives it an end
// that may not be read behind. On a CPU where the bare scan survives nothing is shown but that.
TEST(PatternDatabase, ReadsNothingThatCannotBeRead) {
    std::mt19937 random{7};
    Edge edge;
    std::size_t deaths = 0;
    const int rounds = test::rounds(30);
    for (int round = 0; round < rounds; ++round) {
        const std::vector<std::string> patterns = random_patterns(random);
        const std::vector<std::string> texts = random_texts(random, patterns[0]);
        deaths += dies_bare(serialised(patterns), texts, edge) ? 1U : 0U;
        Loaded loaded{patterns};
        for (const std::string& text : texts) {
            const Found found = loaded.find(edge.put(text));
            const std::string roomy = text + std::string(kTextPadding, 'x');
            EXPECT_EQ(found, loaded.find(bytes_of(roomy).first(text.size()), kTextPadding));
        }
    }
    RecordProperty("bare_scans_that_died", static_cast<int>(deaths));
    std::printf("%zu of %d databases made a bare scan die\n", deaths, rounds);
}

TEST(PaddingBuffer, CopiesOnlyWhatHasTooLittleBehindIt) {
    PaddingBuffer padding;
    const std::string text = "abc" + std::string(kTextPadding, '.');
    const ByteView bytes = bytes_of(text).first(3);
    EXPECT_EQ(padding.pad(bytes, kTextPadding).bytes().data(), bytes.data());
    EXPECT_NE(padding.pad(bytes, kTextPadding - 1).bytes().data(), bytes.data());
    EXPECT_NE(padding.pad({}, 1000).bytes().data(), nullptr);
    const std::string huge(kMaxScannedText + 1, 'a');
    EXPECT_EQ(padding.pad(bytes_of(huge), 0).bytes().size(), kMaxScannedText);
}

}  // namespace
}  // namespace sluice::pattern_database_test
