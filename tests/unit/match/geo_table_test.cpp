#include "lib/match/geo_table.hpp"

#include "lib/packet/country.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

namespace sluice::geo_table_test {
namespace {

GeoParts sound() {
    GeoParts parts;
    parts.asked.add(Field::IpSrcCountry);
    parts.steps = {{0, 0}, {0x0A00'0000, 1}, {0x0A00'0080, 2}, {0x0B00'0000, 0}};
    parts.v6_steps = {{0, 0}, {Wide{0x2001'0db8} << 96, 2}, {Wide{0x2001'0db9} << 96, 0}};
    parts.origins = {{0, 0}, {64'500, country_number("NL")}, {0, country_number("DE")}};
    return parts;
}

// A row with these addresses.
void put(HeaderColumns& headers, std::size_t row, const char* source, const char* destination) {
    const VersionedAddress src = parse_address(source).value();
    const IpAddress dst = parse_address(destination).value().address;
    headers.add_present(HeaderPart::Ip, row_bit(row));
    if (src.version == IpVersion::V6) {
        headers.v6 |= row_bit(row);
        headers.src6[row] = src.address;
        headers.dst6[row] = dst;
        return;
    }
    std::memcpy(&headers.src_host[row], src.address.bytes.data(), 4);
    std::memcpy(&headers.dst_host[row], dst.bytes.data(), 4);
    headers.src_host[row] = __builtin_bswap32(headers.src_host[row]);
    headers.dst_host[row] = __builtin_bswap32(headers.dst_host[row]);
}

TEST(GeoParts, OnlySoundOnesAreTaken) {
    EXPECT_TRUE(are_sound(sound()));
    const std::vector<std::function<void(GeoParts&)>> faults{
        [](GeoParts& parts) { parts.asked = {}; },
        [](GeoParts& parts) { parts.asked.add(Field::IpSrc); },
        [](GeoParts& parts) { parts.asked.add(Field::PayloadLen); },
        [](GeoParts& parts) { parts.steps.clear(); },
        [](GeoParts& parts) { parts.v6_steps.clear(); },
        [](GeoParts& parts) { parts.origins.pop_back(); },
        [](GeoParts& parts) { parts.steps.front().first = 1; },
        [](GeoParts& parts) { parts.steps.push_back({0x1'0000'0000, 0}); },
        [](GeoParts& parts) { std::swap(parts.steps[1], parts.steps[2]); },
        [](GeoParts& parts) { parts.steps[2].first = parts.steps[1].first; },
        [](GeoParts& parts) { parts.v6_steps[2].first = parts.v6_steps[1].first; },
        [](GeoParts& parts) { parts.v6_steps[1].row = 3; },
        [](GeoParts& parts) { parts.origins[1].country = kMaxCountry + 1; },
        [](GeoParts& parts) { parts.origins.resize(kMaxOrigins + 1); },
    };
    for (std::size_t i = 0; i < faults.size(); ++i) {
        GeoParts parts = sound();
        faults[i](parts);
        EXPECT_FALSE(are_sound(parts)) << i;
    }
}

// Only what is asked is filled in, at the end that is asked.
TEST(GeoTable, FillsInWhatIsAsked) {
    struct Case {
        std::vector<Field> asked;
        std::vector<Field> found;  // from 10.0.0.1 to 10.0.0.200
    };
    const std::vector<Case> cases{
        {{Field::IpSrcCountry}, {Field::IpSrcCountry}},
        {{Field::IpDstCountry}, {Field::IpDstCountry}},
        {{Field::IpSrcAsn}, {Field::IpSrcAsn}},
        {{Field::IpDstAsn}, {}},
        {{Field::IpSrcAsn, Field::IpDstCountry}, {Field::IpSrcAsn, Field::IpDstCountry}},
        {{Field::IpSrcCountry, Field::IpSrcAsn}, {Field::IpSrcCountry, Field::IpSrcAsn}},
    };
    for (const Case& one : cases) {
        GeoParts parts = sound();
        parts.asked = {};
        for (const Field field : one.asked) {
            parts.asked.add(field);
        }
        const Result<GeoTable> map = GeoTable::make(parts);
        ASSERT_TRUE(map.has_value());
        HeaderColumns headers;
        put(headers, 0, "10.0.0.1", "10.0.0.200");
        map->fill(headers, row_bit(0));
        for (const Field field :
             {Field::IpSrcCountry, Field::IpDstCountry, Field::IpSrcAsn, Field::IpDstAsn}) {
            const bool found =
                std::find(one.found.begin(), one.found.end(), field) != one.found.end();
            EXPECT_EQ(headers.present_rows(field), found ? row_bit(0) : 0U);
        }
    }
}

TEST(GeoTable, GivesEachPacketItsOwn) {
    const Result<GeoTable> map = GeoTable::make(sound());
    ASSERT_TRUE(map.has_value());
    HeaderColumns headers;
    std::vector<const char*> expected;
    const std::pair<const char*, const char*> packets[] = {
        {"10.0.0.127", "NL"}, {"10.0.0.128", "DE"}, {"10.255.255.255", "DE"}, {"11.0.0.0", ""},
        {"2001:db8::", "DE"}, {"2001:db9::", ""},   {"9.255.255.255", ""},    {"::a00:1", ""}};
    for (std::size_t row = 0; row < kMaxBurst; ++row) {
        const auto& [address, country] = packets[row % std::size(packets)];
        if (row != 0) {  // no IP
            put(headers, row, address, address);
        }
        expected.push_back(row == 0 ? "" : country);
    }
    map->fill(headers, ~RowMask{0});
    for (std::size_t row = 0; row < kMaxBurst; ++row) {
        const bool has = has_row(headers.present_rows(Field::IpSrcCountry), row);
        EXPECT_EQ(has ? country_text(headers.src_country[row]) : "", expected[row]) << row;
    }
    map->fill(headers, 0);
}

}  // namespace
}  // namespace sluice::geo_table_test
