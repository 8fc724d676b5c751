#include "control/cli/capture_end.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/field_list.hpp"
#include "control/cli/terminal.hpp"
#include "control/json.hpp"
#include "lib/capture/reader.hpp"
#include "lib/packet/field_text.hpp"

#include <fmt/format.h>

#include <variant>

namespace sluice {
namespace {

// One frame, looked at.
struct Seen {
    const CapturedFrame& frame;
    PacketHeaders headers;
};

Seen look_at(const CapturedFrame& frame, Tunnels tunnels) {
    Seen seen{frame, {}};
    parse_frame({frame.bytes, frame.wire_size}, tunnels, seen.headers);
    return seen;
}

void print_line(const Seen& seen, const std::vector<Field>& fields) {
    std::string line = std::to_string(seen.frame.number);
    for (const Field field : fields) {
        line += '\t';
        line += field_text(field, seen.headers, seen.frame.bytes, "");
    }
    line += '\n';
    print(line);
}

void print_object(const Seen& seen, const std::vector<Field>& fields) {
    Json object{{"frame", seen.frame.number}};
    for (const Field field : fields) {
        if (!seen.headers.fields.has(field)) {
            continue;
        }
        const FieldRow& row = row_of(field);
        const bool number = row.kind == FieldKind::Number || row.kind == FieldKind::Flag;
        if (number) {
            object[std::string{row.name}] = read_number(field, seen.headers, seen.frame.bytes);
        } else {
            object[std::string{row.name}] = field_text(field, seen.headers, seen.frame.bytes, "");
        }
    }
    print(dump_line(object));
}

ExitCode show_frames(CaptureReader& reader, const Options& options,
                     const std::vector<Field>& fields, Tunnels tunnels) {
    CapturedFrame frame;
    CaptureReader::Next next = reader.next(frame);
    for (; next == CaptureReader::Next::Frame; next = reader.next(frame)) {
        const Seen seen = look_at(frame, tunnels);
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
    return show_frames(*reader, options, std::get<std::vector<Field>>(fields),
                       std::get<Tunnels>(tunnels));
}

}  // namespace sluice
