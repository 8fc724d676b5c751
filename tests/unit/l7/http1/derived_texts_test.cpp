#include "lib/l7/http1/derived_texts.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

namespace sluice::derived_texts_test {
namespace {

const TextNames kNames{
    {.kind = TextName::Kind::PathPrefix, .source = TextField::HttpPath, .segments = 2},
    {.kind = TextName::Kind::RegistrableDomain, .source = TextField::HttpHost},
    {TextName::Kind::Header, "a"},
    {.kind = TextName::Kind::PathPrefix, .source = TextField::HttpPath, .segments = 1}};
constexpr std::string_view kPath = "/a/b/c";
constexpr std::string_view kHost = "www.shop.co.uk";

TextFieldSet everything() {
    TextFieldSet all;
    for (const TextField field : kAllTextFields) {
        all.add(field);
    }
    return all;
}
std::shared_ptr<const PublicSuffixes> suffixes() {
    return std::make_shared<const PublicSuffixes>(
        std::vector<SuffixRule>{{"co.uk", SuffixRule::kExact}});
}

// They lie in the bytes of their sources, wherever these are.
TEST(DerivedTexts, AreViewsOfTheirSources) {
    const DerivedTexts derived{everything(), kNames, suffixes()};
    EXPECT_EQ(derived.fields(), (TextFieldSet{named_text(0), named_text(1), named_text(3)}));
    UnitTexts unit;
    unit.set(TextField::HttpPath, bytes_of(kPath));
    unit.set(TextField::HttpHost, bytes_of(kHost));
    derived.derive(unit);
    const ByteView path = bytes_of(kPath);
    EXPECT_EQ(unit.text(named_text(0)).data(), path.data());
    EXPECT_EQ(unit.text(named_text(0)).size(), 4U);
    EXPECT_EQ(unit.text(named_text(3)).size(), 2U);
    const ByteView host = bytes_of(kHost);
    EXPECT_EQ(unit.text(named_text(1)).data(), host.data() + 4);
    EXPECT_EQ(unit.text(named_text(1)).size(), host.size() - 4);
    EXPECT_FALSE(unit.has(named_text(2)));
}

TEST(DerivedTexts, AreAbsentWhereTheirSourcesAre) {
    const DerivedTexts derived{everything(), kNames, suffixes()};
    UnitTexts unit;
    unit.set(TextField::HttpUri, bytes_of(kPath));
    derived.derive(unit);
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        EXPECT_FALSE(unit.has(named_text(i))) << i;
    }
}

TEST(DerivedTexts, AreThoseThatAreRead) {
    const DerivedTexts one{TextFieldSet{named_text(3)}, kNames, suffixes()};
    EXPECT_EQ(one.fields(), TextFieldSet{named_text(3)});
    EXPECT_TRUE((DerivedTexts{TextFieldSet{TextField::HttpPath}, kNames, nullptr}.empty()));
    const DerivedTexts paths{everything(), kNames, nullptr};
    EXPECT_EQ(paths.fields(), (TextFieldSet{named_text(0), named_text(3)}));
}

}  // namespace
}  // namespace sluice::derived_texts_test
