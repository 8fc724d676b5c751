#include "tests/rounds.hpp"
#include "tests/unit/l7/http1/head_text.hpp"
#include "tests/unit/l7/http1/random_head.hpp"
#include "tests/unit/l7/http1/slow_model.hpp"

#include "lib/base/ascii.hpp"
#include "lib/l7/http1/path.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

// The parser against the slow model, over heads of random parts.
namespace sluice::http1_model_test {
namespace {

using namespace test;

void expect_same_texts(const ParsedHead& fast, const SlowHead& slow) {
    const RequestHead& head = fast.head;
    EXPECT_EQ(text(head.method), slow.method);
    EXPECT_EQ(text(head.target), slow.target);
    EXPECT_EQ(text(head.path), slow.path);
    EXPECT_EQ(text(head.query), slow.query);
    EXPECT_EQ(text(head.host), slow.host);
    EXPECT_EQ(http1::is_present(head.path), slow.has_path);
    EXPECT_EQ(http1::is_present(head.query), slow.has_query);
    EXPECT_EQ(http1::is_present(head.host), slow.has_host);
    for (std::uint8_t place = 0; place < wanted().headers().size(); ++place) {
        const auto found = slow.headers.find(std::string{wanted().headers().name(place)});
        const bool is_there = found != slow.headers.end() && !found->second.empty();
        ASSERT_EQ(http1::is_present(head.header(place).first), is_there) << int{place};
        EXPECT_EQ(text(head.header(place).first), is_there ? found->second.front() : "");
        EXPECT_EQ(text(head.header(place).last), is_there ? found->second.back() : "");
    }
    for (std::uint8_t place = 0; place < wanted().cookies().size(); ++place) {
        const auto found = slow.cookies.find(std::string{wanted().cookies().name(place)});
        ASSERT_EQ(http1::is_present(head.cookie(place).first), found != slow.cookies.end());
        EXPECT_EQ(text(head.cookie(place).first),
                  found != slow.cookies.end() ? found->second[0] : "");
        EXPECT_EQ(text(head.cookie(place).last),
                  found != slow.cookies.end() ? found->second.back() : "");
    }
}

// The texts of wanted cookies that are neither the first nor the last of their name, each once.
std::set<std::string> further_cookies(const SlowHead& slow) {
    std::set<std::string> all;
    for (const auto& [name, values] : slow.cookies) {
        for (std::size_t i = 1; i + 1 < values.size(); ++i) {
            const bool is_further = wanted().cookie(bytes_of(name)) != NameTable::kNone;
            if (is_further && values[i] != values[0]) {
                all.insert(name + "=" + values[i]);
            }
        }
    }
    return all;
}

void expect_same_further_cookies(const RequestHead& head, const SlowHead& slow) {
    const std::set<std::string> all = further_cookies(slow);
    std::set<std::string> kept;
    for (const FurtherValues::Value& value : head.further_cookies.values()) {
        kept.insert(std::string{wanted().cookies().name(value.place)} + "=" + text(value.text));
    }
    EXPECT_EQ(kept.size(), std::min(all.size(), FurtherValues::kMost));
    EXPECT_TRUE(std::includes(all.begin(), all.end(), kept.begin(), kept.end()));
    EXPECT_EQ(head.further_cookies.is_cut(), all.size() > FurtherValues::kMost);
}

// A name as programs behind CGI know it.
std::string joined(std::string name) {
    for (char& letter : name) {
        letter = is_ascii_alphanumeric(letter) ? letter : '-';
    }
    return name;
}
bool is_alike(const std::string& name) {
    bool is_one = false;
    for (std::size_t place = kFramingHeaderCount; place < wanted().headers().size(); ++place) {
        const std::string own{wanted().headers().name(place)};
        is_one = is_one || (joined(name) == joined(own) && name != own);
    }
    return is_one;
}

// The model's shapes, with those of repetitions among what is wanted, and of what is alike to it.
HeadShapes shapes_of(const SlowHead& slow) {
    HeadShapes shapes;
    for (const HeadShape shape : slow.shapes) {
        shapes.add(shape);
    }
    for (const auto& [name, values] : slow.headers) {
        const bool is_wanted = wanted().header(bytes_of(name)) != NameTable::kNone;
        const bool has_own_shape = name == "host" || name == "content-length";
        shapes.add_if(is_wanted && !has_own_shape && values.size() > 1, HeadShape::RepeatedHeader);
        shapes.add_if(!values.empty() && is_alike(name), HeadShape::AlikeHeader);
        const std::uint8_t place = wanted().header(bytes_of(name));
        const bool is_named =
            is_alike(name) || (place != NameTable::kNone && wanted().keeps_all(place));
        static const std::regex kHighSpace{"[\x85\xa0][^]*|([^]*[\\x01-\\x7f])?[\x85\xa0]+"};
        shapes.add_if(is_named && std::any_of(values.begin(), values.end(),
                                              [](const std::string& value) {
                                                  return std::regex_match(value, kHighSpace);
                                              }),
                      HeadShape::HighSpaceInHeader);
    }
    for (const auto& [name, values] : slow.cookies) {
        shapes.add_if(wanted().cookie(bytes_of(name)) != NameTable::kNone && values.size() > 1,
                      HeadShape::RepeatedCookie);
    }
    return shapes;
}

void expect_same_lines(const ParsedHead& fast, const SlowHead& slow) {
    const std::span<const HeadRange> lines = fast.head.upgrade_lines.lines();
    EXPECT_EQ(fast.head.upgrade_lines.is_cut(), slow.upgrade_lines.size() > UpgradeLines::kMost);
    ASSERT_EQ(lines.size(), std::min(slow.upgrade_lines.size(), UpgradeLines::kMost));
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const ByteView line =
            ByteView{fast.bytes}.subspan(lines[i].begin, lines[i].end - lines[i].begin);
        EXPECT_EQ(text(line), slow.upgrade_lines[i]);
    }
}

void expect_same(const std::string& bytes, std::size_t limit, ReadingStance stance) {
    SCOPED_TRACE(quoted(bytes));
    const ParsedHead fast{bytes, limit, std::size_t{16} << 10, stance};
    const SlowHead slow = read_slowly(bytes, limit, stance);
    ASSERT_EQ(fast.status, slow.status);
    ASSERT_EQ(fast.fault, slow.fault);
    if (fast.status != HeadStatus::Complete) {
        return;
    }
    EXPECT_EQ(fast.head.size, slow.size);
    EXPECT_EQ(names_of(fast.head.shapes), names_of(shapes_of(slow)));
    EXPECT_EQ(fast.head.minor_version, slow.minor_version);
    EXPECT_EQ(fast.head.keep_alive, slow.keep_alive);
    EXPECT_EQ(fast.head.upgrade, slow.upgrade);
    EXPECT_EQ(fast.head.body.kind, slow.body.kind);
    EXPECT_EQ(fast.head.body.length, slow.body.length);
    EXPECT_EQ(fast.head.ends_connection(), slow.ends_connection);
    expect_same_lines(fast, slow);
    expect_same_texts(fast, slow);
    expect_same_further_cookies(fast.head, slow);
}

TEST(Http1Model, HeadsOfRandomParts) {
    const std::uint64_t seed = new_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomHead heads{seed};
    for (int round = rounds(60'000); round > 0 && !HasFailure(); --round) {
        const std::string head = heads.make();
        const std::size_t limit = heads.below(10) == 0 ? 64 + heads.below(200) : kDefaultHeadLimit;
        const std::string bytes = head + std::string(heads.below(40), 'x');
        expect_same(bytes, limit, ReadingStance::Anywhere);
        expect_same(bytes, limit, ReadingStance::Service);
    }
}

// Whatever the pieces, a finder says NeedMore up to one byte, and from there on the same.
TEST(Http1Model, TheAnswerDoesNotDependOnThePieces) {
    const std::uint64_t seed = new_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomHead heads{seed};
    for (int round = rounds(6'000); round > 0 && !HasFailure(); --round) {
        const std::string bytes = heads.make() + heads.make();
        SCOPED_TRACE(quoted(bytes));
        const std::size_t limit = heads.below(10) == 0 ? 64 + heads.below(200) : kDefaultHeadLimit;
        const ReadingStance stance =
            heads.below(2) == 0 ? ReadingStance::Anywhere : ReadingStance::Service;
        HeadFinder whole{stance};
        const HeadStatus last = whole.find(bytes_of(bytes), limit);
        HeadFinder fed{stance};
        bool is_decided = false;
        for (std::size_t size = 0; size <= bytes.size(); ++size) {
            const ByteView so_far = bytes_of(bytes).first(size);
            HeadFinder anew{stance};
            const HeadStatus status = anew.find(so_far, limit);
            ASSERT_FALSE(is_decided && status == HeadStatus::NeedMore) << size;
            if (status != HeadStatus::NeedMore) {
                ASSERT_EQ(status, last) << size;
                ASSERT_EQ(anew.fault(), whole.fault()) << size;
                ASSERT_TRUE(last != HeadStatus::Complete || anew.size() == whole.size());
                ASSERT_TRUE(last != HeadStatus::Complete || size >= whole.size());
            }
            if (!is_decided && heads.below(3) != 0) {  // pieces of any size
                ASSERT_EQ(fed.find(so_far, limit), status) << size;
                ASSERT_TRUE(status != HeadStatus::Complete || fed.size() == whole.size());
                is_decided = status != HeadStatus::NeedMore;
            }
        }
    }
}

TEST(Http1Model, TheFormOfAPathIsItsOwnForm) {
    const std::uint64_t seed = new_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomHead heads{seed};
    std::vector<std::byte> room(4096);
    std::vector<std::byte> other_room(4096);
    for (int round = rounds(60'000); round > 0 && !HasFailure(); --round) {
        const std::string path = "/" + heads.target();
        SCOPED_TRACE(quoted(path));
        HeadShapes shapes;
        std::set<HeadShape> slow_shapes;
        const ByteView form = normalise_path(bytes_of(path), room, shapes);
        ASSERT_EQ(text(form), slow_path(path, slow_shapes));
        HeadShapes none;
        ASSERT_EQ(text(normalise_path(form, other_room, none)), text(form));
        // Bytes that stay encoded are reported again.
        ASSERT_TRUE(none.without({HeadShape::EncodedSlash, HeadShape::EncodedReserved,
                                  HeadShape::EncodedNul, HeadShape::Backslash})
                        .empty());
    }
}

}  // namespace
}  // namespace sluice::http1_model_test
