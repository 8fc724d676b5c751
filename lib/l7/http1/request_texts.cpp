#include "lib/l7/http1/request_texts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

struct NamedField {
    std::string name;
    TextField field{};
};

// Fields of the table that are headers too.
struct HeaderRow {
    std::string_view name;
    TextField field;
};
constexpr auto kHeaderRows = std::to_array<HeaderRow>({
    {"user-agent", TextField::HttpUserAgent},
    {"referer", TextField::HttpReferer},
});

std::vector<NamedField> fields_of(TextName::Kind kind, const TextNames& names, TextFieldSet read) {
    std::vector<NamedField> fields;
    for (const HeaderRow& row : kHeaderRows) {
        if (kind == TextName::Kind::Header && read.has(row.field)) {
            fields.push_back({std::string{row.name}, row.field});
        }
    }
    for (std::size_t i = 0; i < names.size() && i < kMaxNamedTexts; ++i) {
        if (names[i].kind == kind && read.has(named_text(i))) {
            fields.push_back({names[i].name, named_text(i)});
        }
    }
    return fields;
}

std::vector<std::string> names_of(const std::vector<NamedField>& fields) {
    std::vector<std::string> names;
    names.reserve(fields.size());
    for (const NamedField& field : fields) {
        names.push_back(field.name);
    }
    return names;
}

std::vector<RequestTexts::Place> places_of(const std::vector<NamedField>& fields,
                                           const NameTable& table) {
    std::vector<RequestTexts::Place> places;
    places.reserve(fields.size());
    for (const NamedField& one : fields) {
        places.push_back({table.find(bytes_of(one.name)), one.field});
    }
    return places;
}

}  // namespace

Result<RequestTexts> RequestTexts::make(const TextNames& names, TextFieldSet read,
                                        std::string_view client_header) {
    std::vector<NamedField> headers = fields_of(TextName::Kind::Header, names, read);
    if (read.has(kClientHeader)) {
        headers.push_back({std::string{client_header}, kClientHeader});
    }
    const std::vector<NamedField> cookies = fields_of(TextName::Kind::Cookie, names, read);
    Result<WantedHeaders> wanted = WantedHeaders::make(names_of(headers), names_of(cookies));
    if (!wanted) {
        return wanted.error();
    }
    RequestTexts texts{*std::move(wanted)};
    texts.headers_ = places_of(headers, texts.wanted_.headers());
    texts.cookies_ = places_of(cookies, texts.wanted_.cookies());
    if (read.has(kClientHeader)) {
        const std::uint8_t client = texts.headers_.back().place;
        const bool is_named =
            std::any_of(texts.headers_.begin(), texts.headers_.end() - 1,
                        [client](const Place& one) { return one.place == client; });
        if (!is_named) {
            texts.wanted_.keep_ends(client);  // each proxy adds a line, of which the last counts
        }
    }
    return texts;
}

}  // namespace sluice
