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
        Map,   // its keys are `inside`
        Maps,  // a list of such maps
    };
    std::string_view key;
    Kind kind = Kind::Scalar;
    std::span<const Shape> inside{};
};
using enum Shape::Kind;

constexpr auto kColors = std::to_array<Shape>({{"green", Any}, {"yellow", Any}, {"red", Any}});
constexpr auto kClusterSync =
    std::to_array<Shape>({{"interval"}, {"max_unsynced"}, {"owner_down"}});
constexpr auto kCoarsen = std::to_array<Shape>({{"factor"}});

constexpr auto kStore = std::to_array<Shape>({{"type"}, {"nodes", Any}, {"password_file"}});
constexpr auto kDiscovery = std::to_array<Shape>({{"type"}, {"endpoints", Any}});
constexpr auto kCluster =
    std::to_array<Shape>({{"node"}, {"store", Map, kStore}, {"discovery", Map, kDiscovery}});

constexpr auto kParts = std::to_array<Shape>({
    // of a rule
    {"on_color", Map, kColors},
    {"cluster_sync", Map, kClusterSync},
    {"coarsen", Map, kCoarsen},
    // of sluice.yaml
    {"cluster", Map, kCluster},
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

void expect(bool right, std::string_view what, const Shape& shape, const YamlNode& value,
            const ReadContext& context) {
    if (!right) {
        context.problems.error(value.at, "`" + std::string{shape.key} + "` must be " +
                                             std::string{what} + ", found " + kind_name(value));
    }
}

void check(const Shape& shape, const YamlNode& value, const ReadContext& context) {
    switch (shape.kind) {
        case Any:
            return;
        case Scalar:
            return expect(value.is_scalar(), "one value", shape, value, context);
        case Map:
            return check_map(shape, value, context);
        case Maps:
            expect(value.is_list(), "a list", shape, value, context);
            for (const YamlNode& item : value.items) {
                check_map(shape, item, context);
            }
            return;
    }
}

}  // namespace

void check_unsupported(std::string_view key, const YamlNode& value, const ReadContext& context) {
    if (const Shape* shape = find_shape(key)) {
        check(*shape, value, context);
    }
}

}  // namespace sluice
