#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// Prometheus text format 0.0.4: families with their samples.
namespace sluice {

struct MetricLabel {
    std::string_view name;
    std::string_view value;
};

// Backslash, quote and line end are escaped; everything else stands as it is.
inline std::string escaped(std::string_view value) {
    std::string out;
    for (const char c : value) {
        if (c == '\\' || c == '"') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else {
            out += c;
        }
    }
    return out;
}

inline std::string_view type_of(std::string_view family) {
    return family.ends_with("_total") ? "counter" : "gauge";
}

// The name in a row of a table, or of a table of nothing but names.
template <typename Row>
std::string_view row_name(const Row& row) {
    if constexpr (std::is_convertible_v<Row, std::string_view>) {
        return row;
    } else {
        return row.name;
    }
}

class MetricsWriter {
public:
    void family(std::string_view name, std::string_view help) {
        out_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type_of(name));
        name_ = name;
    }
    template <typename Number>
    void sample(std::initializer_list<MetricLabel> labels, const Number& value) {
        out_ += name_;
        std::string_view separator = "{";
        for (const MetricLabel& label : labels) {
            out_ += fmt::format("{}{}=\"{}\"", separator, label.name, escaped(label.value));
            separator = ",";
        }
        out_ += fmt::format("{} {}\n", labels.size() == 0 ? "" : "}", value);
    }
    // A family of one sample.
    template <typename Number>
    void single(std::string_view name, std::string_view help, const Number& value) {
        family(name, help);
        sample({}, value);
    }
    // One sample for each row of a table, with its name as this label.
    template <typename Counts, typename Rows>
    void by_name(std::string_view label, const Counts& counts, const Rows& rows) {
        for (std::size_t i = 0; i < counts.size(); ++i) {
            sample({{label, row_name(rows[i])}}, counts[i]);
        }
    }
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    std::string out_;
    std::string name_;
};

// One line: every row of a table with its meaning.
template <typename Rows>
std::string help_of(std::string text, const Rows& rows) {
    std::string_view separator = " ";
    for (const auto& row : rows) {
        text += fmt::format("{}{} ({})", separator, row.name, row.help);
        separator = ", ";
    }
    return text + ".";
}

}  // namespace sluice
