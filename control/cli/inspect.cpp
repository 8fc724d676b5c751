#include "control/cli/capture_end.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/field_list.hpp"
#include "control/cli/replay/worker_set.hpp"
#include "control/cli/terminal.hpp"
#include "control/json.hpp"
#include "lib/capture/reader.hpp"
#include "lib/match/number_ranges.hpp"
#include "lib/packet/field_text.hpp"
#include "lib/rules/text_part.hpp"
#include "lib/units/unit_parser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <variant>

namespace sluice {
namespace {

// One frame, looked at, and the units of later layers that it completes.
struct Seen {
    const CapturedFrame& frame;
    PacketHeaders headers;
    const BurstUnits& units;
};

// Looks at frames one by one.
class Inspector {
public:
    Inspector(const std::vector<ShownField>& fields, Tunnels tunnels) : tunnels_{tunnels} {
        for (const ShownField& field : fields) {
            if (const auto* text = std::get_if<TextField>(&field)) {
                wanted_.add(*text);
            }
        }
    }
    [[nodiscard]] Seen look_at(const CapturedFrame& frame) {
        Seen seen{frame, {}, units_};
        const FrameView view{frame.bytes, frame.wire_size};
        parse_frame(view, tunnels_, seen.headers);
        units_.clear();
        if (!wanted_.empty() && !is_malformed(seen.headers.parsed)) {
            (void)units_.find(0, {.headers = seen.headers,
                                  .frame = view,
                                  .wanted = wanted_,
                                  .hash = hash_,
                                  .now = frame.timestamp});
        }
        return seen;
    }

private:
    Tunnels tunnels_;
    TextFieldSet wanted_;
    KeyHasher hash_{kReplaySecret};
    UnitParser parser_{capture_unit_budget()};
    BurstUnits units_{parser_.finder()};
};

// One for each unit that has the text.
std::vector<std::string> texts_of(TextField field, const Seen& seen) {
    std::vector<std::string> texts;
    for (std::size_t number = 0; number < seen.units.count(0); ++number) {
        const UnitTexts& unit = seen.units.unit(0, number).texts;
        if (unit.has(field)) {
            texts.push_back(text_of_value(unit.text(field), false));
        }
    }
    return texts;
}

// Of several units side by side, with commas between them.
std::string text_of(const ShownField& field, const Seen& seen) {
    if (const auto* header = std::get_if<Field>(&field)) {
        return field_text(*header, seen.headers, seen.frame.bytes, "");
    }
    return fmt::format("{}", fmt::join(texts_of(std::get<TextField>(field), seen), ","));
}

void print_line(const Seen& seen, const std::vector<ShownField>& fields) {
    std::string line = std::to_string(seen.frame.number);
    for (const ShownField& field : fields) {
        line += '\t';
        line += text_of(field, seen);
    }
    line += '\n';
    print(line);
}

void add_header(Field field, const Seen& seen, Json& object) {
    if (!seen.headers.fields.has(field)) {
        return;
    }
    const FieldRow& row = row_of(field);
    const bool number = row.kind == FieldKind::Number || row.kind == FieldKind::Flag;
    if (number) {
        object[std::string{row.name}] = read_number(field, seen.headers, seen.frame.bytes);
    } else {
        object[std::string{row.name}] = field_text(field, seen.headers, seen.frame.bytes, "");
    }
}

// Of several units a list.
void add_texts(TextField field, const Seen& seen, Json& object) {
    const TextFieldRow& row = row_of(field);
    Json values = Json::array();
    for (const std::string& text : texts_of(field, seen)) {
        const std::optional<std::uint64_t> number = read_decimal(text);
        values.push_back(row.kind == TextKind::Number && number ? Json(*number) : Json(text));
    }
    if (!values.empty()) {
        object[std::string{row.name}] = values.size() == 1 ? values[0] : values;
    }
}

void print_object(const Seen& seen, const std::vector<ShownField>& fields) {
    Json object{{"frame", seen.frame.number}};
    for (const ShownField& field : fields) {
        if (const auto* header = std::get_if<Field>(&field)) {
            add_header(*header, seen, object);
        } else {
            add_texts(std::get<TextField>(field), seen, object);
        }
    }
    print(dump_line(object));
}

ExitCode show_frames(CaptureReader& reader, const Options& options,
                     const std::vector<ShownField>& fields, Tunnels tunnels) {
    Inspector inspector{fields, tunnels};
    CapturedFrame frame;
    CaptureReader::Next next = reader.next(frame);
    for (; next == CaptureReader::Next::Frame; next = reader.next(frame)) {
        const Seen seen = inspector.look_at(frame);
        options.json ? print_object(seen, fields) : print_line(seen, fields);
    }
    const std::uint64_t left_out = reader.left_out().total();
    if (options.json && left_out != 0) {
        print(dump_line(Json{{"not_ethernet", left_out}}));
    }
    return report_end(next, reader, options.pcap_file);
}

}  // namespace

ExitCode run_inspect(const Options& options) {
    const auto fields = parse_field_list(options.fields);
    if (const auto* fault = std::get_if<FieldFault>(&fields)) {
        say_error(fault->what);
        return fault->not_built ? ExitCode::Refused : ExitCode::Usage;
    }
    const auto tunnels = parse_tunnels(options.tunnels);
    if (const auto* fault = std::get_if<std::string>(&tunnels)) {
        say_error(*fault);
        return ExitCode::Usage;
    }
    Result<CaptureReader> reader = CaptureReader::open(options.pcap_file);
    if (!reader) {
        say_error(reader.error().what);
        return ExitCode::Refused;
    }
    return show_frames(*reader, options, std::get<std::vector<ShownField>>(fields),
                       std::get<Tunnels>(tunnels));
}

}  // namespace sluice
