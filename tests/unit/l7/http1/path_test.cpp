#include "lib/l7/http1/path.hpp"

#include "lib/l7/http1/texts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace sluice::path_test {
namespace {

using http1::as_text;

struct Row {
    std::string_view sent;
    std::string_view form;
    HeadShapes shapes{};
};

HeadShapes only(HeadShape shape) {
    HeadShapes shapes;
    shapes.add(shape);
    return shapes;
}

TEST(Path, HasOneForm) {
    const Row rows[] = {
        {"/", "/"},
        {"/a/b.c", "/a/b.c"},
        {"/%61dmin", "/admin"},
        {"/%7Euser/%2d%5F", "/~user/-_"},
        {"/a%2fb%2F", "/a%2Fb%2F", {HeadShape::EncodedSlash}},
        {"/a%3b%22%5C", "/a%3B%22%5C", {HeadShape::EncodedReserved}},
        {"/%20%3F%23%25%7F", "/%20%3F%23%25%7F"},
        {"/%e2%82%ac", "/%E2%82%AC"},
        {"/\xE2\x82\xAC", "/%E2%82%AC"},
        {"//a///b//", "/a/b/"},
        {"/./a/./b/.", "/a/b/", {HeadShape::DotSegment}},
        {"/a/../b", "/b", {HeadShape::DotSegment}},
        {"/a/b/..", "/a/", {HeadShape::DotSegment}},
        {"/a/b/../..", "/", {HeadShape::DotSegment}},
        {"/a//../b", "/b", {HeadShape::DotSegment}},
        {"/%2e%2E/%2e/etc", "/etc", {HeadShape::DotSegment, HeadShape::AboveRoot}},
        {"/..", "/", {HeadShape::DotSegment, HeadShape::AboveRoot}},
        {"/../../a", "/a", {HeadShape::DotSegment, HeadShape::AboveRoot}},
        {"/a/.../b", "/a/.../b"},
        {"/.a/..b/c.", "/.a/..b/c."},
        {"/.well-known/x", "/.well-known/x"},
        {"/%252e%252e/x", "/%252e%252e/x"},
        {"/%00", "/%00", only(HeadShape::EncodedNul)},
        {"/a%", "/a%25", only(HeadShape::BadPercent)},
        {"/a%4", "/a%254", only(HeadShape::BadPercent)},
        {"/%zz", "/%25zz", only(HeadShape::BadPercent)},
        {"/%%34%31", "/%2541", only(HeadShape::BadPercent)},
        {"*", "*"},
        {"", ""},
    };
    std::array<std::byte, 128> room;
    for (const Row& row : rows) {
        HeadShapes shapes;
        EXPECT_EQ(as_text(normalise_path(bytes_of(row.sent), room, shapes)), row.form) << row.sent;
        EXPECT_EQ(shapes, row.shapes) << row.sent;
    }
}

TEST(Path, WhatDoesNotChangeIsAViewOfWhatWasSent) {
    std::array<std::byte, 128> room;
    for (const std::string_view sent : {"/", "/a/b/c", "/.well-known/a%2F", "/a%41"}) {
        HeadShapes shapes;
        const ByteView form = normalise_path(bytes_of(sent), room, shapes);
        EXPECT_EQ(form.data() == bytes_of(sent).data(), as_text(form) == sent) << sent;
    }
}

TEST(Path, IsCutWhereTheRoomEnds) {
    const std::string_view sent = "/%61/\xE9/b/../c";
    const std::string_view forms[] = {"", "/", "/a", "/a/", "/a/", "/a/", "/a/%E9", "/a/%E9/"};
    for (std::size_t size = 0; size < std::size(forms); ++size) {
        std::vector<std::byte> room(size);
        HeadShapes shapes;
        EXPECT_EQ(as_text(normalise_path(bytes_of(sent), room, shapes)), forms[size]) << size;
        EXPECT_TRUE(shapes.has(HeadShape::PathTooLong)) << size;
    }
}

TEST(Path, HasAPrefixOfSegments) {
    const auto prefix = [](std::string_view path, std::size_t segments) {
        return as_text(path_prefix(bytes_of(path), segments));
    };
    EXPECT_EQ(prefix("/a/b/c", 1), "/a");
    EXPECT_EQ(prefix("/a/b/c", 2), "/a/b");
    EXPECT_EQ(prefix("/a/b/c", 3), "/a/b/c");
    EXPECT_EQ(prefix("/a/b/c", 9), "/a/b/c");
    EXPECT_EQ(prefix("/a/", 1), "/a");
    EXPECT_EQ(prefix("/a/", 2), "/a/");
    EXPECT_EQ(prefix("/", 1), "/");
    EXPECT_EQ(prefix("", 1), "");
    const std::string longer = "/" + std::string(50, 'a') + "/b";
    EXPECT_EQ(prefix(longer, 1).size(), 51U);
}

}  // namespace
}  // namespace sluice::path_test
