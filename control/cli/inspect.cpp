#include "control/cli/capture_end.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/field_list.hpp"
#include "control/cli/long_work.hpp"
#include "control/cli/service_column.hpp"
#include "control/cli/terminal.hpp"
#include "control/json.hpp"
#include "control/list_folder.hpp"
#include "control/replay/rss_mapping.hpp"
#include "control/replay/worker_set.hpp"
#include "lib/capture/reader.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/match/number_ranges.hpp"
#include "lib/packet/field_text.hpp"
#include "lib/packet/tcp_flags.hpp"
#include "lib/policy/domains/suffix_list.hpp"
#include "lib/rules/text_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {
namespace {

// The text as in the packet; bytes that break a line, and those that are no ASCII, as \xNN.
std::string shown(TextField field, ByteView text) {
    if (row_of(field).kind == TextKind::Number) {
        return text_of_value(row_of(field), text, false);
    }
    std::string out;
    for (const std::byte byte : text) {
        const auto c = std::to_integer<unsigned char>(byte);
        const bool plain = c >= 0x20 && c < 0x7F;
        out += plain ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
    }
    return out;
}

// One frame, looked at, and the units of later layers that it completes.
struct Seen {
    const CapturedFrame& frame;
    PacketHeaders headers;
    const BurstUnits& units;
    std::optional<ServiceSight> service{};  // nullopt: no rule file is named

    // A line for each unit, and one of a frame without any.
    [[nodiscard]] std::size_t lines() const { return std::max<std::size_t>(units.count(0), 1); }
    // nullopt: the frame, or the unit of that line, has no such text.
    [[nodiscard]] std::optional<std::string> text(TextField field, std::size_t line) const {
        if (field == TextField::Payload) {
            const std::optional<ByteView> payload = read_payload(headers, frame.bytes);
            return payload ? std::optional{shown(field, *payload)} : std::nullopt;
        }
        if (line >= units.count(0) || !units.unit(0, line).texts.has(field)) {
            return std::nullopt;
        }
        return shown(field, units.unit(0, line).texts.text(field));
    }
};

// Room for all of a capture. Nobody aims it at a budget, and a head that pauses for minutes in it
// is whole all the same. A request that two servers read differently has a line for each reading.
constexpr UnitBudget kInspected{.connections = {.connections = std::size_t{1} << 18,
                                                .half_heads_per_source = std::size_t{1} << 15,
                                                .half_head_timeout = std::chrono::minutes{15},
                                                .idle_timeout = std::chrono::hours{1}},
                                .on_ambiguous = OnAmbiguous::Both};

// A capture may begin in the middle of a connection: what is not known begins with the frame.
ServicePacket beginning_at(const PacketHeaders& headers, const CapturedFrame& frame) {
    if (!headers.fields.has(Field::TcpFlags) || (headers.tcp_flags & kTcpSyn) != 0) {
        return {};
    }
    constexpr std::size_t kSequenceAt = 4;
    return {.first = load_be32(frame.bytes, headers.l4_at + kSequenceAt), .is_beginning = true};
}

using Suffixes = std::shared_ptr<const PublicSuffixes>;

// The texts of units.
TextFieldSet texts_of(const FieldList& list) {
    TextFieldSet texts;
    for (const ShownField& field : list.fields) {
        if (const auto* text = std::get_if<TextField>(&field);
            text != nullptr && *text != TextField::Payload) {
            texts.add(*text);
        }
    }
    return texts;
}

// The list of this host, where a field needs it; else nullptr.
Result<Suffixes> suffixes_for(const FieldList& list) {
    if (std::none_of(list.text_names.begin(), list.text_names.end(), [](const TextName& name) {
            return name.kind == TextName::Kind::RegistrableDomain;
        })) {
        return Suffixes{};
    }
    const Result<ListFile> file = read_list_file("", kSuffixListFile);
    if (!file) {
        return file.error();
    }
    const Result<std::vector<SuffixRule>> rules = read_suffix_list(*file->text);
    return rules ? Result<Suffixes>{std::make_shared<const PublicSuffixes>(*rules)}
                 : Result<Suffixes>{rules.error()};
}

// Looks at frames one by one. Whatever they hold passes.
class Inspector {
public:
    Inspector(const FieldList& list, Tunnels tunnels, std::vector<IpPrefix> inside,
              Suffixes suffixes)
        : tunnels_{tunnels},
          inside_{std::move(inside)},
          wanted_{sources_of(texts_of(list), list.text_names)},
          derived_{texts_of(list), list.text_names, std::move(suffixes)} {
        // The names have been read as tokens.
        requests_ = *RequestTexts::make(list.text_names, wanted_);
        (void)passed_->add({}, Direction::In, 0);
        passed_->decision(0).verdict = Verdict::Pass;
    }
    [[nodiscard]] Seen look_at(const CapturedFrame& frame) {
        Seen seen{frame, {}, units_};
        const FrameView view{frame.bytes, frame.wire_size};
        parse_frame(view, Tunnels{}, seen.headers);
        const Direction dir = direction_of(seen.headers, inside_);
        parse_frame(view, tunnels_, seen.headers);
        seen.headers.dir = dir;
        units_.clear();
        now_ = std::max(now_, frame.timestamp);
        if (!wanted_.empty() && !is_malformed(seen.headers.parsed)) {
            units_.find(0, {.headers = seen.headers,
                            .frame = view,
                            .wanted = wanted_,
                            .counted = {Per::Request, Per::Query, Per::Handshake},
                            .requests = requests_,
                            .hash = hash_,
                            .now = now_,
                            .service = beginning_at(seen.headers, frame)});
            const bool is_crowded =
                units_.unjudgeable() != 0 && units_.why(0) == Reason::TooManyUnits;
            crowded_ += is_crowded ? 1 : 0;
            units_.derive_texts(0, derived_);
            units_.settle(*passed_, row_bit(0), no_rules_);
        }
        return seen;
    }
    // Frames whose units are too many to be shown.
    [[nodiscard]] std::uint64_t crowded() const noexcept { return crowded_; }

private:
    Tunnels tunnels_;
    std::vector<IpPrefix> inside_;  // networks behind the box
    TextFieldSet wanted_;
    RequestTexts requests_;
    DerivedTexts derived_;
    MeterPlan no_rules_;
    KeyHasher hash_{kReplaySecret};
    UnitParser parser_{kInspected};
    BurstUnits units_{parser_.finder(), UnitCapacity::OnlyPacket};
    std::unique_ptr<Burst> passed_ = std::make_unique<Burst>();
    Instant now_{};  // of parsers; it never goes back
    std::uint64_t crowded_ = 0;
};

std::string text_of(const ShownField& field, const Seen& seen, std::size_t line) {
    if (const auto* header = std::get_if<Field>(&field)) {
        return field_text(*header, seen.headers, seen.frame.bytes, "");
    }
    return seen.text(std::get<TextField>(field), line).value_or("");
}

void print_line(const Seen& seen, const FieldList& list, std::size_t number) {
    std::string line = std::to_string(seen.frame.number);
    for (const ShownField& field : list.fields) {
        line += '\t';
        line += text_of(field, seen, number);
    }
    if (seen.service) {
        const std::optional<ServiceAccount>& account = seen.service->account;
        line += '\t' + (account ? column_text(*account) : "");
        line += '\t' + reading_text(*seen.service, seen.headers);
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

void add_text(TextField field, const Seen& seen, const TextNames& names, std::size_t line,
              Json& object) {
    const TextFieldRow& row = row_of(field);
    if (const std::optional<std::string> text = seen.text(field, line)) {
        const std::optional<std::uint64_t> number = read_decimal(*text);
        object[name_of(field, names)] =
            row.kind == TextKind::Number && number ? Json(*number) : Json(*text);
    }
}

void add_service(const ServiceSight& sight, const PacketHeaders& headers, Json& object) {
    if (sight.account) {
        object["service"] = service_json(*sight.account);
    }
    if (Json reading = reading_json(sight, headers); !reading.is_null()) {
        object["reading"] = std::move(reading);
    }
}

void print_object(const Seen& seen, const FieldList& list, std::size_t number) {
    Json object{{"frame", seen.frame.number}};
    for (const ShownField& field : list.fields) {
        if (const auto* header = std::get_if<Field>(&field)) {
            add_header(*header, seen, object);
        } else {
            add_text(std::get<TextField>(field), seen, list.text_names, number, object);
        }
    }
    if (seen.service) {
        add_service(*seen.service, seen.headers, object);
    }
    print(dump_line(object));
}

ExitCode show_frames(CaptureReader& reader, const Options& options, const FieldList& list,
                     Inspector& inspector, ServiceColumn* services) {
    const auto print_one = options.json ? print_object : print_line;
    constexpr std::uint64_t kRecordHead = 16;
    std::optional<LongWork> work{std::in_place, "inspect", capture_size(options.pcap_file),
                                 LongWork::Beside::OutputElsewhere};
    CapturedFrame frame;
    CaptureReader::Next next = reader.next(frame);
    for (; next == CaptureReader::Next::Frame; next = reader.next(frame)) {
        work->add(frame.bytes.size() + kRecordHead);
        Seen seen = inspector.look_at(frame);
        if (services != nullptr) {
            seen.service = services->next(frame);
        }
        for (std::size_t line = 0; line < seen.lines(); ++line) {
            print_one(seen, list, line);
        }
    }
    work.reset();
    if (inspector.crowded() != 0) {
        say_warning(
            fmt::format("{} frames hold more than {} requests or queries each; theirs are "
                        "not shown",
                        inspector.crowded(), kMaxUnits));
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
        return refuse(fault->what, ExitCode::Usage);
    }
    const auto tunnels = parse_tunnels(options.tunnels);
    if (const auto* fault = std::get_if<std::string>(&tunnels)) {
        return refuse(*fault, ExitCode::Usage);
    }
    Result<CaptureReader> reader = CaptureReader::open(options.pcap_file);
    if (!reader) {
        return refuse(reader.error().what);
    }
    const auto& list = std::get<FieldList>(fields);
    Result<Suffixes> suffixes = suffixes_for(list);
    if (!suffixes) {
        return refuse(suffixes.error().what);
    }
    Result<std::vector<IpPrefix>> inside = parse_prefixes(options.inside);
    if (!inside) {
        return refuse("--inside: " + inside.error().what, ExitCode::Usage);
    }
    const auto services = ServiceColumn::make(options);
    if (const auto* exit = std::get_if<ExitCode>(&services)) {
        return *exit;
    }
    if (!options.rules_files.empty() && options.inside.empty()) {
        say_warning(
            "no frame comes from the servers, whose connections cannot be followed so; "
            "--inside PREFIX names the networks behind the box");
    }
    Inspector inspector{list, std::get<Tunnels>(tunnels), *std::move(inside), *std::move(suffixes)};
    return show_frames(*reader, options, list, inspector,
                       std::get<std::unique_ptr<ServiceColumn>>(services).get());
}

}  // namespace sluice
