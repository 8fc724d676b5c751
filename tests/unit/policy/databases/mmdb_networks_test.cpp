#include "lib/policy/databases/mmdb_process.hpp"

#include "tests/packets/mmdb_bytes.hpp"

#include "lib/packet/country.hpp"
#include "lib/policy/child_process.hpp"
#include "lib/policy/databases/mmdb_file.hpp"
#include "lib/policy/databases/mmdb_networks.hpp"

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace sluice::mmdb_networks_test {
namespace {

namespace mmdb = test::mmdb;
using test::MmdbBytes;

template <typename Key>
std::uint32_t row_at(const std::vector<Step<Key>>& steps, Key key) {
    std::uint32_t row = 0;
    for (const Step<Key>& step : steps) {
        row = step.first <= key ? step.row : row;
    }
    return row;
}

std::uint32_t row_of_text(const DatabaseNetworks& networks, std::string_view text) {
    const VersionedAddress address = parse_address(text).value();
    Wide key = 0;
    for (std::size_t i = 0; i < (address.version == IpVersion::V4 ? 4U : 16U); ++i) {
        key = key << 8 | std::to_integer<unsigned>(address.address.bytes[i]);
    }
    return address.version == IpVersion::V4
               ? row_at(networks.steps, static_cast<std::uint64_t>(key))
               : row_at(networks.v6_steps, key);
}

std::string country_at(const DatabaseNetworks& networks, std::string_view text) {
    return country_text(static_cast<std::uint16_t>(row_of_text(networks, text)));
}

MmdbBytes small(unsigned ip_version = 6, unsigned record_size = 24) {
    MmdbBytes file{{ip_version, record_size, "Test-Country"}};
    file.add("192.0.2.0/24", mmdb::country("NL"))
        .add("192.0.2.128/25", mmdb::country("DE"))
        .add("198.51.100.7/32", mmdb::country("NO"));
    if (ip_version == 6) {
        file.add("2001:db8::/32", mmdb::country("FR")).add("2001:db8:1::/48", mmdb::country("SE"));
    }
    return file;
}

TEST(MmdbNetworks, EveryRecordSizeAndVersionIsRead) {
    for (const unsigned version : {4U, 6U}) {
        for (const unsigned record_size : {24U, 28U, 32U}) {
            const Result<DatabaseNetworks> networks =
                read_mmdb(small(version, record_size).bytes(), DatabaseKind::Country);
            ASSERT_TRUE(networks.has_value()) << networks.error().what;
            EXPECT_EQ(country_at(*networks, "192.0.2.1"), "NL");
            EXPECT_EQ(country_at(*networks, "192.0.2.127"), "NL");
            EXPECT_EQ(country_at(*networks, "192.0.2.128"), "DE");
            EXPECT_EQ(country_at(*networks, "198.51.100.7"), "NO");
            EXPECT_EQ(country_at(*networks, "198.51.100.8"), "");
            EXPECT_EQ(country_at(*networks, "0.0.0.0"), "");
            EXPECT_EQ(country_at(*networks, "255.255.255.255"), "");
            EXPECT_EQ(country_at(*networks, "2001:db8:1::5"), version == 6 ? "SE" : "");
            EXPECT_EQ(country_at(*networks, "2001:db8:2::"), version == 6 ? "FR" : "");
            EXPECT_EQ(country_at(*networks, "2001:db9::"), "");
            EXPECT_EQ(networks->type, "Test-Country");
            EXPECT_EQ(networks->built_at, 1'700'000'000U);
        }
    }
}

// What leads to the IPv4 tree once more is neither doubled nor taken for IPv6.
TEST(MmdbNetworks, AliasesOfIpv4AreNoNetworks) {
    const auto plain = read_mmdb(small().bytes(), DatabaseKind::Country);
    const auto aliased = read_mmdb(small()
                                       .alias_of_v4("::ffff:0:0/96")
                                       .alias_of_v4("2002::/16")
                                       .alias_of_v4("2001::/32")
                                       .bytes(),
                                   DatabaseKind::Country);
    ASSERT_TRUE(aliased.has_value()) << aliased.error().what;
    EXPECT_EQ(aliased->steps, plain->steps);
    EXPECT_EQ(aliased->v6_steps, plain->v6_steps);
    for (const char* address : {"::192.0.2.1", "::ffff:192.0.2.1", "2002:c000:201::"}) {
        EXPECT_EQ(country_at(*aliased, address), "") << address;
    }
}

// A tree that ends above ::/96: one country for all of IPv4, and more.
TEST(MmdbNetworks, OneRecordMayHoldAllOfIpv4) {
    MmdbBytes file;
    file.add("::/64", mmdb::country("CH"));
    const auto networks = read_mmdb(file.bytes(), DatabaseKind::Country);
    ASSERT_TRUE(networks.has_value()) << networks.error().what;
    EXPECT_EQ(country_at(*networks, "203.0.113.1"), "CH");
    EXPECT_EQ(country_at(*networks, "2001:db8::"), "");
}

TEST(MmdbNetworks, OnlyTheCountryOfTheAddressCounts) {
    const auto record = [](const std::string& body) {
        return mmdb::map({mmdb::text("country"), body});
    };
    const auto code = [&](std::string_view text) {
        return record(mmdb::map({mmdb::text("iso_code"), mmdb::text(text)}));
    };
    MmdbBytes file;
    file.add("10.0.0.0/16", mmdb::country("AT"));
    file.add("10.1.0.0/16", mmdb::map({mmdb::text("registered_country"),
                                       mmdb::map({mmdb::text("iso_code"), mmdb::text("US")})}));
    file.add("10.2.0.0/16", code("us"));
    file.add("10.3.0.0/16", code("USA"));
    file.add("10.4.0.0/16", code("T1"));
    file.add("10.5.0.0/16", record(mmdb::text("US")));
    file.add("10.6.0.0/16", mmdb::text("US"));
    file.add("10.7.0.0/16", record(mmdb::map({mmdb::text("iso_code"), mmdb::number(7)})));
    const auto networks = read_mmdb(file.bytes(), DatabaseKind::Country);
    ASSERT_TRUE(networks.has_value()) << networks.error().what;
    EXPECT_EQ(country_at(*networks, "10.0.0.1"), "AT");
    for (const char* address :
         {"10.1.0.1", "10.2.0.1", "10.3.0.1", "10.4.0.1", "10.5.0.1", "10.6.0.1", "10.7.0.1"}) {
        EXPECT_EQ(country_at(*networks, address), "") << address;
    }
}

TEST(MmdbNetworks, NumbersOfSystemsAreReadWhole) {
    MmdbBytes file;
    file.add("10.0.0.0/16", mmdb::asn(64'512)).add("10.1.0.0/16", mmdb::asn(4'294'967'295));
    file.add("10.2.0.0/16",
             mmdb::map({mmdb::text("autonomous_system_number"), mmdb::number(4'294'967'296, 9)}));
    file.add("10.3.0.0/16",
             mmdb::map({mmdb::text("autonomous_system_number"), mmdb::number(7, 5)}));
    file.add("10.4.0.0/16", mmdb::map({mmdb::text("autonomous_system_number"), mmdb::text("AS7")}));
    const auto networks = read_mmdb(file.bytes(), DatabaseKind::Asn);
    ASSERT_TRUE(networks.has_value()) << networks.error().what;
    EXPECT_EQ(row_of_text(*networks, "10.0.0.1"), 64'512U);
    EXPECT_EQ(row_of_text(*networks, "10.1.0.1"), 4'294'967'295U);
    EXPECT_EQ(row_of_text(*networks, "10.2.0.1"), 0U);
    EXPECT_EQ(row_of_text(*networks, "10.3.0.1"), 7U);
    EXPECT_EQ(row_of_text(*networks, "10.4.0.1"), 0U);
}

// Writers share parts of records by pointers.
TEST(MmdbNetworks, PointersAreFollowed) {
    MmdbBytes file;
    const std::string shared = mmdb::map({mmdb::text("iso_code"), mmdb::text("IS")});
    file.add("10.0.0.0/8", shared);  // stands first
    file.add("11.0.0.0/8", mmdb::map({mmdb::text("country"), mmdb::pointer(0)}));
    const auto networks = read_mmdb(file.bytes(), DatabaseKind::Country);
    ASSERT_TRUE(networks.has_value()) << networks.error().what;
    EXPECT_EQ(country_at(*networks, "11.0.0.1"), "IS");
    EXPECT_EQ(country_at(*networks, "10.0.0.1"), "");
}

// The library's own look-up is the oracle, over random networks.
TEST(MmdbNetworks, RandomTreesAgreeWithTheLibrarysLookUp) {
    std::mt19937_64 random{1};
    for (int round = 0; round < 20; ++round) {
        MmdbBytes file{{6, 28, "Test-ASN"}};
        std::vector<VersionedAddress> addresses;
        for (int i = 0; i < 60; ++i) {
            const bool v4 = random() % 2 == 0;
            IpAddress address;
            for (std::byte& byte : address.bytes) {
                byte = static_cast<std::byte>(random() % 4);
            }
            if (v4) {
                std::fill(address.bytes.begin() + 4, address.bytes.end(), std::byte{0});
            } else {
                address.bytes[0] = std::byte{0x20};
            }
            const IpVersion version = v4 ? IpVersion::V4 : IpVersion::V6;
            const auto length = static_cast<unsigned>(1 + random() % (v4 ? 32 : 64));
            file.add(to_text(version, masked(address, length)) + "/" + std::to_string(length),
                     mmdb::asn(1 + random() % 20));
            addresses.push_back({version, address});
        }
        const std::string bytes = file.bytes();
        const auto networks = read_mmdb(bytes, DatabaseKind::Asn);
        ASSERT_TRUE(networks.has_value()) << networks.error().what;
        const Result<MmdbFile> open = MmdbFile::open(bytes);
        ASSERT_TRUE(open.has_value());
        for (const VersionedAddress& one : addresses) {
            const std::string text = to_text(one.version, one.address);
            int unresolved = 0;
            int error = 0;
            MMDB_lookup_result_s found =
                MMDB_lookup_string(&**open, text.c_str(), &unresolved, &error);
            ASSERT_EQ(unresolved, 0);
            ASSERT_EQ(error, MMDB_SUCCESS);
            MMDB_entry_data_s data{};
            const bool has =
                found.found_entry && MMDB_get_value(&found.entry, &data, "autonomous_system_number",
                                                    nullptr) == MMDB_SUCCESS;
            ASSERT_EQ(row_of_text(*networks, text), has ? data.uint32 : 0U) << text;
        }
    }
}

void expect_broken(const std::string& bytes, std::string_view part,
                   DatabaseKind kind = DatabaseKind::Country) {
    const auto networks = read_mmdb(bytes, kind);
    ASSERT_FALSE(networks.has_value()) << part;
    EXPECT_NE(networks.error().what.find(part), std::string::npos) << networks.error().what;
}

TEST(MmdbNetworks, WhatIsNoSuchFileIsSaid) {
    expect_broken("", "is no good MMDB file");
    expect_broken("version: 1\n", "metadata");
    expect_broken(small().bytes(), "of type Test-Country", DatabaseKind::Asn);
    MmdbBytes loop;
    loop.lead_to("10.0.0.0/8", 0).add("11.0.0.0/8", mmdb::country("NL"));
    expect_broken(loop.bytes(), "tree is damaged");
    MmdbBytes beyond;
    beyond.lead_to_data("10.0.0.0/8", 1000).add("11.0.0.0/8", mmdb::country("NL"));
    expect_broken(beyond.bytes(), "tree is damaged");
}

// Every node leads to the next by both its bits: 2^32 ways through 33 nodes.
TEST(MmdbNetworks, ATreeThatMeetsItselfIsBounded) {
    MmdbBytes file{{4, 24, "Test"}};
    std::string network = "0.0.0.0/31";
    file.add("0.0.0.0/32", mmdb::country("NL"));
    for (unsigned length = 1; length <= 31; ++length) {
        IpAddress other{};
        other.bytes[(length - 1) / 8] = static_cast<std::byte>(0x80U >> ((length - 1) % 8));
        file.lead_to(to_text(IpVersion::V4, other) + "/" + std::to_string(length), length);
    }
    const auto networks = read_mmdb(file.bytes(), DatabaseKind::Country);
    ASSERT_FALSE(networks.has_value());
    EXPECT_EQ(networks.error().code, Errc::TooMany) << networks.error().what;
}

std::string nested(std::size_t depth, const std::string& one, const std::string& core) {
    std::string bytes;
    for (std::size_t i = 0; i < depth; ++i) {
        bytes += one;
    }
    return bytes + core;
}

// libmaxminddb calls itself for each map within a map: the child process crashes, the caller does
// not.
TEST(MmdbNetworks, DeepNestingIsRefused) {
    const std::string deep =
        nested(1'000'000, mmdb::head(7, 1) + mmdb::text("a"), mmdb::text("end"));
    MmdbBytes file;
    file.add("10.0.0.0/8", mmdb::map({mmdb::text("a"), deep, mmdb::text("country"),
                                      mmdb::map({mmdb::text("iso_code"), mmdb::text("NL")})}));
    file.add("11.0.0.0/8", mmdb::country("NL"));
    expect_broken(file.bytes(), "is no good MMDB file: libmaxminddb ends, or takes too long");
}

// With one pair more at its front.
std::string metadata_with(const std::string& value) {
    return mmdb::head(7, 10) + mmdb::text("more") + value + small().metadata().substr(1);
}

TEST(MmdbNetworks, MetadataThatLeadsReadersAstrayDoesNoHarm) {
    const std::string whole = small().bytes();
    const std::string marker = "\xAB\xCD\xEFMaxMind.com";
    const std::string body = whole.substr(0, whole.rfind(marker) + marker.size());
    const Result<DatabaseNetworks> good = read_mmdb(whole, DatabaseKind::Country);
    ASSERT_TRUE(good.has_value());
    for (const std::string& value :
         {mmdb::text("x"), nested(60'000, mmdb::head(11, 1), mmdb::text("x")),
          mmdb::array({mmdb::pointer(0), mmdb::pointer(0)}), mmdb::head(11, 16'000'000)}) {
        const auto networks = read_mmdb(body + metadata_with(value), DatabaseKind::Country);
        if (networks) {
            EXPECT_EQ(networks->steps, good->steps);
            EXPECT_EQ(networks->v6_steps, good->v6_steps);
        } else {
            EXPECT_NE(networks.error().what.find("is no good MMDB file"), std::string::npos);
        }
    }
}

// Arrays of pointers to arrays of pointers: 16^11 texts in a few hundred bytes, which libmaxminddb
// copies into a list until its memory or its time is used up.
TEST(MmdbNetworks, MetadataThatGrowsIsRefused) {
    std::string value = mmdb::head(11, 11);
    const std::size_t front = metadata_with("").find("more") + 4;
    std::size_t level = front + value.size();
    value += mmdb::array({mmdb::text("x")});
    for (int i = 1; i < 11; ++i) {
        const std::size_t next = front + value.size();
        value += mmdb::array(
            std::vector<std::string>(16, mmdb::pointer(static_cast<std::uint32_t>(level))));
        level = next;
    }
    const std::string languages = mmdb::array({mmdb::text("en")});
    std::string metadata = metadata_with(value);
    const std::size_t at = metadata.find(languages);
    ASSERT_NE(at, std::string::npos);
    metadata.replace(at, languages.size(),
                     mmdb::array({mmdb::pointer(static_cast<std::uint32_t>(level))}));
    const std::string whole = small().bytes();
    const std::string marker = "\xAB\xCD\xEFMaxMind.com";
    expect_broken(whole.substr(0, whole.rfind(marker) + marker.size()) + metadata,
                  "is no good MMDB file");
}

// Nothing of the child's answer is believed.
TEST(MmdbNetworks, AnAnswerIsCheckedWhole) {
    const auto accepts = [](const DatabaseNetworks& networks) {
        return networks_of_answer(answer_of(networks), DatabaseKind::Country).has_value();
    };
    const DatabaseNetworks good = *read_mmdb(small().bytes(), DatabaseKind::Country);
    ASSERT_TRUE(accepts(good));
    EXPECT_EQ(networks_of_answer(answer_of(good), DatabaseKind::Country)->steps, good.steps);
    DatabaseNetworks bad = good;
    bad.steps.clear();
    EXPECT_FALSE(accepts(bad)) << "no step";
    bad = good;
    bad.steps[0].first = 1;
    EXPECT_FALSE(accepts(bad)) << "not from 0 on";
    bad = good;
    std::swap(bad.steps[1].first, bad.steps[2].first);
    EXPECT_FALSE(accepts(bad)) << "not in order";
    bad = good;
    bad.v6_steps[1].row = bad.v6_steps[0].row;
    EXPECT_FALSE(accepts(bad)) << "neighbours alike";
    bad = good;
    bad.v6_steps[1].row = kMaxCountry + 1;
    EXPECT_FALSE(accepts(bad)) << "no country";

    const std::vector<std::byte> whole = answer_of(good);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(networks_of_answer(ByteView{whole}.first(size), DatabaseKind::Country))
            << size;
    }
    std::vector<std::byte> more = whole;
    more.push_back({});
    EXPECT_FALSE(networks_of_answer(more, DatabaseKind::Country));
    const auto refused =
        networks_of_answer(answer_of(Error{Errc::TooMany, "has too many"}), DatabaseKind::Country);
    EXPECT_EQ(refused.error().code, Errc::TooMany);
    EXPECT_EQ(refused.error().what, "has too many");
}

// Steps that may be in an answer, or why there are none.
void expect_orderly(const Result<DatabaseNetworks>& networks) {
    if (!networks) {
        EXPECT_FALSE(networks.error().what.empty());
        return;
    }
    ASSERT_EQ(networks->steps.front().first, 0U);
    ASSERT_TRUE(networks->v6_steps.front().first == 0);
    ASSERT_TRUE(std::is_sorted(networks->v6_steps.begin(), networks->v6_steps.end(),
                               [](const auto& a, const auto& b) { return a.first < b.first; }));
}

// The answers of one process that reads all of these files: fewer when it ends on one of them.
std::vector<Result<DatabaseNetworks>> read_in_one_process(const std::vector<std::string>& files) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 20;
    const auto read = [&](const ChildOutput& out) {
        for (const std::string& bytes : files) {
            bound_reading();
            const std::vector<std::byte> answer =
                answer_of(read_mmdb_here(bytes, DatabaseKind::Country));
            const std::uint64_t size = answer.size();
            out.put(std::as_bytes(std::span{&size, 1}));
            out.put(answer);
        }
    };
    const std::vector<std::byte> answers = run_in_child(read, kMostBytes).value();
    std::vector<Result<DatabaseNetworks>> outcomes;
    std::uint64_t size = 0;
    for (ByteView rest{answers}; rest.size() >= sizeof(size); rest = rest.subspan(size)) {
        std::memcpy(&size, rest.data(), sizeof(size));
        rest = rest.subspan(sizeof(size));
        if (size > rest.size()) {
            break;
        }
        outcomes.push_back(networks_of_answer(rest.first(size), DatabaseKind::Country));
    }
    return outcomes;
}

// Cut, or a byte changed, at one place in seven: an error, or networks in order; never more. A
// process reads many of these files; one of them is read by a process of its own as well.
TEST(MmdbNetworks, DamageIsAnErrorOrOrderly) {
    constexpr std::size_t kFilesOfAProcess = 20;
    const std::string whole = small().alias_of_v4("2002::/16").bytes();
    std::mt19937_64 random{2};
    std::vector<std::string> files;
    const auto read_all = [&files] {
        const std::vector<Result<DatabaseNetworks>> outcomes = read_in_one_process(files);
        ASSERT_EQ(outcomes.size(), files.size());
        for (const Result<DatabaseNetworks>& networks : outcomes) {
            expect_orderly(networks);
        }
        expect_orderly(read_mmdb(files.front(), DatabaseKind::Country));
        files.clear();
    };
    for (std::size_t i = random() % 7; i < whole.size() && !HasFailure(); i += 7) {
        std::string changed = whole;
        changed[i] = static_cast<char>(random());
        files.push_back(whole.substr(0, i));
        files.push_back(std::move(changed));
        if (files.size() == kFilesOfAProcess) {
            read_all();
        }
    }
    if (!files.empty()) {
        read_all();
    }
}

}  // namespace
}  // namespace sluice::mmdb_networks_test
