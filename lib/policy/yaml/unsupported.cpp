#include "lib/policy/yaml/unsupported.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace sluice {
namespace {

struct Shape {
    enum class Kind : std::uint8_t {
        Any,
        Scalar,
        Map,  // its keys are `inside`
    };
    std::string_view key;
    Kind kind = Kind::Scalar;
    std::span<const Shape> inside{};
};
using enum Shape::Kind;

constexpr auto kClusterSync =
    std::to_array<Shape>({{"interval"}, {"max_unsynced"}, {"owner_down"}});

constexpr auto kParts = std::to_array<Shape>({
    {"cluster_sync", Map, kClusterSync},  // of a rule
});

const Shape* find_shape(std::string_view key) noexcept {
    const auto row = std::find_if(kParts.begin(), kParts.end(),
                                  [&](const Shape& one) { return one.key == key; });
    return row == kParts.end() ? nullptr : &*row;
}

void check(const Shape& shape, const YamlNode& value, const ReadContext& context);

void check_map(const Shape& shape, const YamlNode& value, const ReadContext& context) {
    std::vector<KeyRow> known;
    known.reserve(shape.inside.size());
    for (const Shape& inner : shape.inside) {
        known.push_back({inner.key});
    }
    const MapReader map{value, known, context, "`" + std::string{shape.key} + "`"};
    for (const Shape& inner : shape.inside) {
        if (const YamlNode* node = map.find(inner.key)) {
            check(inner, *node, context);
        }
    }
}

void check(const Shape& shape, const YamlNode& value, const ReadContext& context) {
    if (shape.kind == Map) {
        check_map(shape, value, context);
    } else if (shape.kind == Scalar && !value.is_scalar()) {
        context.problems.error(value.at, "`" + std::string{shape.key} +
                                             "` must be one value, found " + kind_name(value));
    }
}

}  // namespace

void check_unsupported(std::string_view key, const YamlNode& value, const ReadContext& context) {
    if (const Shape* shape = find_shape(key)) {
        check(*shape, value, context);
    }
}

}  // namespace sluice
