#include "tests/unit/l7/http1/slow_model.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <optional>
#include <regex>

#include <arpa/inet.h>

namespace sluice::test {
namespace {

using Shapes = std::set<HeadShape>;
using Strings = std::vector<std::string>;

const std::string kTokenBytes =
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool all_in(const std::string& text, const std::string& bytes) {
    return text.find_first_not_of(bytes) == std::string::npos;
}
std::string lower(std::string text) {
    for (char& c : text) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    return text;
}
// An address of IPv6 in brackets, without these; empty: it is none.
std::string slow_address(const std::string& host) {
    static const std::regex kLiteral{R"(\[([0-9A-Fa-f.:]*)\](:[0-9]{0,5})?)"};
    std::smatch found;
    in6_addr address{};
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool is_one = std::regex_match(host, found, kLiteral) &&
                        inet_pton(AF_INET6, found[1].str().c_str(), &address) == 1;
    return is_one ? inet_ntop(AF_INET6, &address, text.data(), text.size()) : "";
}
std::string strip(const std::string& text, const char* what = " \t") {
    const std::size_t first = text.find_first_not_of(what);
    return first == std::string::npos ? ""
                                      : text.substr(first, text.find_last_not_of(what) + 1 - first);
}
Strings split(const std::string& text, char by) {
    Strings parts;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        if (at == text.size() || text[at] == by) {
            parts.push_back(text.substr(begin, at - begin));
            begin = at + 1;
        }
    }
    return parts;
}
bool is_high(char c) {
    return static_cast<unsigned char>(c) >= 0x80;
}

// Lines with their ends, LF or CR LF, cut off; from `begin` to the first empty one.
struct Lines {
    Strings lines;
    Strings raw;          // with their ends
    std::size_t end = 0;  // 0: there is no empty one
};
Lines lines_of(const std::string& bytes, std::size_t begin) {
    Lines found;
    while (true) {
        const std::size_t lf = bytes.find('\n', begin);
        if (lf == std::string::npos) {
            return found;
        }
        const std::string raw = bytes.substr(begin, lf + 1 - begin);
        std::string line = bytes.substr(begin, lf - begin);
        if (!line.empty() && line.back() == '\r') {
            line.pop_back();
        }
        begin = lf + 1;
        if (line.empty()) {
            found.end = begin;
            return found;
        }
        found.lines.push_back(line);
        found.raw.push_back(raw);
    }
}

void read_bytes(const std::string& head, Shapes& shapes) {
    for (std::size_t i = 0; i < head.size(); ++i) {
        const auto byte = static_cast<unsigned char>(head[i]);
        if (byte == '\n') {
            if (i == 0 || head[i - 1] != '\r') {
                shapes.insert(HeadShape::BareLf);
            }
        } else if (byte == '\r') {
            if (head[i + 1] != '\n') {
                shapes.insert(HeadShape::BareCr);
            }
        } else if (byte == 0) {
            shapes.insert(HeadShape::Nul);
        } else if ((byte < 32 && byte != '\t') || byte == 127) {
            shapes.insert(HeadShape::ControlByte);
        }
    }
}

void read_version(const std::string& version, SlowHead& head) {
    static const std::regex kHttp1{R"(HTTP/1\.([0-9]))"};
    static const std::regex kOther{
        R"((HTTP|RTSP|ICE)/([+-]?[0-9]+(_[0-9]+)*)\.([+-]?[0-9]+(_[0-9]+)*))"};
    std::smatch found;
    if (std::regex_match(version, found, kHttp1)) {
        head.minor_version = found[1] == "0" ? 0 : 1;
        if (found[1] > "1") {
            head.shapes.insert(HeadShape::OtherMinorVersion);
        }
    } else if (std::regex_match(version, found, kOther)) {
        head.shapes.insert(HeadShape::OtherVersion);
        const bool is_below = found[2] == "0" || (found[2] == "1" && found[4] == "0");
        head.minor_version = is_below ? 0 : 1;
    } else {
        head.shapes.insert(HeadShape::BadVersion);
    }
}

const std::string kSpaces = "\t\v\f\r\x1c\x1d\x1e\x1f ";
const std::string kAllSpaces = kSpaces + "\x85\xa0";

bool is_slow_http09(const std::string& method, const std::string& target) {
    static const std::regex kKnown{"[A-Z-]+"};
    static const std::regex kTarget{"[/*][^]*|[^]*://[^]*"};
    return target.find_first_of(" \t") == std::string::npos &&
           (method == "GET" || method == "CONNECT" ||
            (std::regex_match(method, kKnown) && std::regex_match(target, kTarget)));
}

// The words of a first line, where `spaces` stand between them.
struct SlowLine {
    LineFault fault = LineFault::None;
    std::string method, target, version;
};
SlowLine words_of(const std::string& line, const std::string& spaces) {
    Strings words;
    std::string word;
    for (const char c : line + ' ') {
        if (spaces.find(c) == std::string::npos) {
            word += c;
        } else if (!word.empty()) {
            words.push_back(word);
            word.clear();
        }
    }
    SlowLine found;
    found.method = words.empty() ? "" : words.front();
    if (words.size() < 2) {
        found.fault = words.empty()               ? LineFault::NoMethod
                      : found.method == "CONNECT" ? LineFault::None
                                                  : LineFault::NoTarget;
        return found;
    }
    const std::string text = strip(line, spaces.c_str());
    std::string rest = strip(text.substr(found.method.size()), spaces.c_str());
    const std::string last = words.back();
    const bool has_version = lower(last).substr(0, 5) == "http/" || last.substr(0, 5) == "RTSP/" ||
                             last.substr(0, 4) == "ICE/";
    if (words.size() > 2 && has_version) {
        found.version = last;
        rest = strip(rest.substr(0, rest.size() - last.size()), spaces.c_str());
    } else if (!is_slow_http09(found.method, rest)) {
        found.fault = LineFault::NoVersion;
    }
    found.target = rest;
    return found;
}
SlowLine words_of(const std::string& line) {
    const SlowLine usual = words_of(line, kSpaces);
    const SlowLine other = words_of(line, kAllSpaces);
    if (usual.fault == LineFault::None && !usual.version.empty()) {
        return usual;
    }
    const bool is_better = other.fault == LineFault::None &&
                           (usual.fault != LineFault::None || !other.version.empty());
    return is_better ? other : usual;
}

// The authority of the target, if it names one.
std::optional<std::string> read_target(SlowHead& head) {
    std::string uri = head.target;
    if (uri.find('#') != std::string::npos) {
        head.shapes.insert(HeadShape::Fragment);
        uri = uri.substr(0, uri.find('#'));
    }
    const bool is_origin = head.target[0] == '/';
    const bool is_asterisk = head.target == "*";
    const std::size_t colon = head.target.find("://");
    const bool is_absolute =
        colon != std::string::npos && colon > 0 && colon == head.target.find(':') &&
        std::isalpha(static_cast<unsigned char>(head.target[0])) != 0 &&
        all_in(lower(head.target.substr(0, colon)), "abcdefghijklmnopqrstuvwxyz0123456789+-.");
    if (head.method == "CONNECT" && !is_origin && !is_asterisk && !is_absolute) {
        return uri;
    }
    if (head.method == "CONNECT" || (is_asterisk && head.method != "OPTIONS") ||
        (!is_origin && !is_asterisk && !is_absolute)) {
        head.shapes.insert(HeadShape::TargetForm);
    }
    static const std::regex kNetworkPath{R"(/[/\\][^]*)"};
    if (std::regex_match(uri, kNetworkPath)) {
        head.shapes.insert(HeadShape::NetworkPath);
        static const std::regex kHost{R"([/\\]+([^/\\?]*@)?([^/\\?@]*)[^]*)"};
        std::smatch found;
        Shapes doubts;
        if (std::regex_match(uri, found, kHost)) {
            (void)slow_host(found[2], doubts);
        }
        if (doubts.contains(HeadShape::BadHost)) {
            head.shapes.insert(HeadShape::BadNetworkHost);
        }
    }
    std::optional<std::string> authority;
    if (is_absolute && !is_origin) {
        const std::string rest = uri.substr(colon + 3);
        const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
        authority = rest.substr(0, end);
        uri = rest.substr(end);
        if (uri.empty() || uri[0] == '?') {
            uri = "/" + uri;
        }
    }
    const std::size_t query = uri.find('?');
    if (query != std::string::npos) {
        head.has_query = true;
        head.query = uri.substr(query + 1);
    }
    head.has_path = true;
    head.path = slow_path(uri.substr(0, query), head.shapes);
    return authority;
}

std::optional<std::string> read_line(const std::string& line, SlowHead& head) {
    const SlowLine words = words_of(line);
    head.method = words.method;
    head.target = words.target;
    std::string plain = head.method + " " + head.target;
    if (words.version.empty()) {
        head.shapes.insert(HeadShape::MissingVersion);
        head.minor_version = 0;
    } else {
        read_version(words.version, head);
        plain += " " + words.version;
    }
    if (line != plain || strip(head.target, kAllSpaces.c_str()) != head.target) {
        head.shapes.insert(HeadShape::RequestLineSpace);
    }
    if (!all_in(head.method, kTokenBytes)) {
        head.shapes.insert(HeadShape::BadMethod);
    }
    if (std::regex_search(head.method, std::regex{"[a-z]"})) {
        head.shapes.insert(HeadShape::MethodCase);
        if (lower(head.method) == "head" || lower(head.method) == "connect") {
            head.shapes.insert(HeadShape::BadMethod);
        }
    }
    if (head.target.find_first_of(" \t") != std::string::npos) {
        head.shapes.insert(HeadShape::SpaceInTarget);
    }
    if (std::any_of(head.target.begin(), head.target.end(), is_high)) {
        head.shapes.insert(HeadShape::HighByteInTarget);
    }
    return read_target(head);
}

void add_header(const std::string& line, std::string value, const std::string& raw,
                SlowHead& head) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
        head.shapes.insert(HeadShape::NoColon);
        return;
    }
    std::string name = line.substr(0, colon);
    if (name.empty()) {
        head.shapes.insert(HeadShape::EmptyHeaderName);
        return;
    }
    const std::size_t kept = name.find_last_not_of(" \t") + 1;
    if (kept == 0 || !all_in(name.substr(0, kept), kTokenBytes)) {
        head.shapes.insert(HeadShape::BadHeaderName);
        return;
    }
    if (kept != name.size()) {
        head.shapes.insert(HeadShape::SpaceBeforeColon);
        name = name.substr(0, kept);
    }
    if (lower(name) == "upgrade" || lower(name) == "http2-settings") {
        head.upgrade_lines.push_back(raw);
    }
    head.headers[lower(name)].push_back(std::move(value));
}

void read_headers(const Lines& all, SlowHead& head) {
    const Strings& lines = all.lines;
    const auto is_folded = [&](std::size_t at) {
        return at < lines.size() && (lines[at][0] == ' ' || lines[at][0] == '\t');
    };
    std::size_t at = 1;
    for (; is_folded(at); ++at) {
        head.shapes.insert(HeadShape::SpaceBeforeFirstHeader);
    }
    while (at < lines.size()) {
        const std::string& line = lines[at];
        const std::size_t colon = line.find(':');
        std::string value = all.raw[at].substr(colon == std::string::npos ? 0 : colon + 1);
        std::string raw = all.raw[at];
        const bool folds = is_folded(at + 1);
        for (++at; is_folded(at); ++at) {
            head.shapes.insert(HeadShape::ObsFold);
            value += all.raw[at];
            raw += all.raw[at];
        }
        if (!folds) {
            value.resize(value.size() - (all.raw[at - 1].size() - line.size()));
        }
        add_header(line, strip(value, folds ? " \t\r\n" : " \t"), raw, head);
    }
}

void read_framing(SlowHead& head) {
    Strings lengths;
    for (const std::string& value : head.headers["content-length"]) {
        if (value.size() > 64) {
            lengths.emplace_back("too long");
            continue;
        }
        for (const std::string& part : split(value, ',')) {
            lengths.push_back(strip(part));
        }
    }
    bool bad_length = false;
    std::set<std::string> different;
    std::size_t good = 0;
    for (const std::string& length : lengths) {
        const std::string digits =
            length.substr(std::min(length.find_first_not_of('0'), length.size()));
        const std::string most = "9223372036854775807";
        if (length.empty() || !all_in(length, "0123456789") || digits.size() > most.size() ||
            (digits.size() == most.size() && digits > most)) {
            head.shapes.insert(HeadShape::BadContentLength);
            bad_length = true;
            continue;
        }
        // Each is compared with the one before.
        if (good++ > 0) {
            const bool same = *different.begin() == digits;
            head.shapes.insert(same ? HeadShape::DuplicateContentLength
                                    : HeadShape::ContentLengthsDiffer);
            bad_length = bad_length || !same;
        }
        different = {digits};
    }
    Strings codings;
    for (const std::string& value : head.headers["transfer-encoding"]) {
        for (const std::string& part : split(value, ',')) {
            codings.push_back(lower(strip(part)));
        }
    }
    if (!codings.empty()) {
        bool good_codings = codings.back() == "chunked";
        for (std::size_t i = 0; i + 1 < codings.size(); ++i) {
            const std::string name = strip(codings[i].substr(0, codings[i].find(';')));
            good_codings = good_codings && !name.empty() && all_in(name, lower(kTokenBytes)) &&
                           name != "chunked";
        }
        if (!lengths.empty()) {
            head.shapes.insert(HeadShape::LengthAndEncoding);
        }
        if (head.minor_version == 0) {
            head.shapes.insert(HeadShape::TransferEncodingIn10);
        }
        if (!good_codings) {
            head.shapes.insert(HeadShape::BadTransferEncoding);
        }
        head.body.kind = good_codings ? BodyFraming::Kind::Chunked : BodyFraming::Kind::UntilClose;
    } else if (bad_length) {
        head.body.kind = BodyFraming::Kind::UntilClose;
    } else if (!lengths.empty() && !different.begin()->empty()) {
        head.body = {BodyFraming::Kind::Length, std::stoull(*different.begin())};
    }
}

void read_connection(SlowHead& head) {
    bool close = false;
    bool keep = false;
    for (const std::string& value : head.headers["connection"]) {
        for (const std::string& part : split(lower(value), ',')) {
            close = close || strip(part) == "close";
            keep = keep || strip(part) == "keep-alive";
        }
    }
    for (const std::string& value : head.headers["expect"]) {
        if (!value.empty() && lower(value) != "100-continue") {
            head.shapes.insert(HeadShape::OtherExpectation);
        }
    }
    head.keep_alive = (head.minor_version == 1 || keep) && !close &&
                      head.body.kind != BodyFraming::Kind::UntilClose;
    std::set<std::string> protocols;
    for (const std::string& value : head.headers["upgrade"]) {
        for (const std::string& part : split(lower(value), ',')) {
            const std::string protocol = strip(part);
            const bool is_h2c = protocol.substr(0, protocol.find_first_of("; \t")) == "h2c";
            protocols.insert(is_h2c ? "h2c" : protocol);
        }
    }
    protocols.erase("");
    if (head.method == "CONNECT") {
        head.upgrade = HttpUpgrade::Connect;
        if (head.body.kind != BodyFraming::Kind::None) {
            head.shapes.insert(HeadShape::ConnectBody);
        }
    } else if (protocols.count("h2c") != 0) {
        head.upgrade = HttpUpgrade::H2c;
    } else if (protocols == std::set<std::string>{"websocket"}) {
        head.upgrade = HttpUpgrade::WebSocket;
    } else if (!protocols.empty()) {
        head.upgrade = HttpUpgrade::Other;
    }
    for (const std::string& value : head.headers["cookie"]) {
        for (const std::string& pair : split(value, ';')) {
            const std::size_t equals = pair.find('=');
            if (equals != std::string::npos) {
                head.cookies[strip(pair.substr(0, equals))].push_back(
                    strip(pair.substr(equals + 1)));
            }
        }
    }
}

void read_hosts(const std::optional<std::string>& authority, SlowHead& head) {
    const Strings& hosts = head.headers["host"];
    if (hosts.size() > 1) {
        head.shapes.insert(HeadShape::DuplicateHost);
    }
    if (authority) {
        head.has_host = true;
        head.host = slow_host(*authority, head.shapes);
        if (authority->empty()) {
            head.shapes.insert(HeadShape::BadHost);
        }
        if (!hosts.empty() && slow_host(hosts[0], head.shapes) != head.host) {
            head.shapes.insert(HeadShape::HostsDiffer);
        }
    } else if (!hosts.empty()) {
        head.has_host = true;
        head.host = slow_host(hosts[0], head.shapes);
    } else if (head.minor_version == 1) {
        head.shapes.insert(HeadShape::NoHost);
    }
}

// Bytes behind a method and a blank can be a target's, for any connection.
HeadStatus slow_target(const std::string& behind, const std::string& method) {
    static const std::regex kFine{R"((/|\*[ \t]|[A-Za-z][A-Za-z0-9+.\-]{0,31}://)[^]*)"};
    static const std::regex kMaybe{R"(|\*|[A-Za-z][A-Za-z0-9+.\-]{0,31}:?/?)"};
    static const std::string kHost = "-._~%!$&'()*+;=[";
    const std::string target =
        behind.substr(std::min(behind.find_first_not_of(" \t"), behind.size()));
    if (std::regex_match(target, kFine)) {
        return HeadStatus::Complete;
    }
    if (method == "CONNECT" && !target.empty() && target[0] != '*') {
        const bool is_host = std::isalnum(static_cast<unsigned char>(target[0])) != 0 ||
                             kHost.find(target[0]) != std::string::npos;
        return is_host ? HeadStatus::Complete : HeadStatus::NotHttp;
    }
    const bool is_slash_alone =
        target.find('/') != std::string::npos && target.find(':') == std::string::npos;
    return std::regex_match(target, kMaybe) && !is_slash_alone ? HeadStatus::NeedMore
                                                               : HeadStatus::NotHttp;
}

// The beginning that any connection must have before its line is looked for.
HeadStatus slow_begin(const std::string& rest, LineFault& fault) {
    const std::size_t method = std::min(rest.find_first_not_of(kTokenBytes), rest.size());
    if (method > 32) {
        fault = LineFault::MethodTooLong;
        return HeadStatus::NotHttp;
    }
    if (method == rest.size()) {
        return HeadStatus::NeedMore;
    }
    if (method == 0 || (rest[method] != ' ' && rest[method] != '\t')) {
        const bool is_line = method != 0 && (rest[method] == '\r' || rest[method] == '\n');
        fault = is_line ? LineFault::NoTarget : LineFault::NoMethod;
        return HeadStatus::NotHttp;
    }
    const HeadStatus target = slow_target(rest.substr(method), rest.substr(0, method));
    fault = target == HeadStatus::NotHttp ? LineFault::NoTargetForm : LineFault::None;
    return target;
}

HeadStatus slow_status(const std::string& bytes, ReadingStance stance, std::size_t& begin,
                       LineFault& fault) {
    const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    if (bytes.substr(0, preface.size()) == preface) {
        return HeadStatus::H2Preface;
    }
    if (bytes.size() < preface.size() && preface.substr(0, bytes.size()) == bytes) {
        return HeadStatus::NeedMore;
    }
    const bool is_service = stance == ReadingStance::Service;
    while (begin < bytes.size() && (bytes[begin] == '\n' || bytes.substr(begin, 2) == "\r\n" ||
                                    (is_service && bytes[begin] == '\r'))) {
        begin += bytes[begin] == '\n' || bytes.substr(begin, 2) != "\r\n" ? 1 : 2;
    }
    if (begin == bytes.size() || bytes.substr(begin) == "\r") {
        return HeadStatus::NeedMore;
    }
    const std::string rest = bytes.substr(begin);
    if (is_service && rest.substr(0, 2) == "\x16\x03") {
        fault = LineFault::NoMethod;
        return HeadStatus::NotHttp;
    }
    const HeadStatus begins = is_service ? HeadStatus::Complete : slow_begin(rest, fault);
    if (begins != HeadStatus::Complete) {
        return begins;
    }
    const std::size_t lf = rest.find('\n');
    if (lf == std::string::npos) {
        return HeadStatus::NeedMore;
    }
    const SlowLine words = words_of(rest.substr(0, lf));
    const bool is_http09 = words.fault == LineFault::None && words.version.empty();
    fault = is_http09 && !is_service ? LineFault::NoVersion : words.fault;
    return fault == LineFault::None ? HeadStatus::Complete : HeadStatus::NotHttp;
}

}  // namespace

std::string slow_path(std::string path, Shapes& shapes) {
    if (path.empty() || path[0] != '/') {
        return path;
    }
    const std::string kept = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    std::string plain;
    const auto encode = [&](int byte) {
        char text[4];
        std::snprintf(text, sizeof(text), "%%%02X", static_cast<unsigned>(byte));
        plain += text;
    };
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] == '\\') {
            shapes.insert(HeadShape::Backslash);
        }
        if (is_high(path[i])) {
            encode(static_cast<unsigned char>(path[i]));
        } else if (path[i] != '%') {
            plain += path[i];
        } else if (i + 2 < path.size() && all_in(path.substr(i + 1, 2), "0123456789abcdefABCDEF")) {
            const int byte = std::stoi(path.substr(i + 1, 2), nullptr, 16);
            if (byte != 0 && kept.find(static_cast<char>(byte)) != std::string::npos) {
                plain += static_cast<char>(byte);
            } else {
                if (byte == '/') {
                    shapes.insert(HeadShape::EncodedSlash);
                } else if (byte == 0) {
                    shapes.insert(HeadShape::EncodedNul);
                } else if (byte > 32 && byte < 127 && byte != '%' && byte != '?' && byte != '#') {
                    shapes.insert(HeadShape::EncodedReserved);
                }
                encode(byte);
            }
            i += 2;
        } else {
            shapes.insert(HeadShape::BadPercent);
            encode('%');
        }
    }
    Strings kept_segments;
    const Strings segments = split(plain.substr(1), '/');
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const bool is_last = i + 1 == segments.size();
        const std::string& segment = segments[i];
        const bool is_dots = segment == "." || segment == "..";
        if (is_dots) {
            shapes.insert(HeadShape::DotSegment);
        }
        if (segment == "..") {
            if (kept_segments.empty()) {
                shapes.insert(HeadShape::AboveRoot);
            } else {
                kept_segments.pop_back();
            }
        } else if (!segment.empty() && !is_dots) {
            kept_segments.push_back(segment);
        }
        if (is_last && (segment.empty() || is_dots)) {
            kept_segments.emplace_back();
        }
    }
    std::string form;
    for (const std::string& segment : kept_segments) {
        form += "/" + segment;
    }
    return form;
}

std::string slow_host(std::string host, Shapes& shapes) {
    static const std::regex kName{R"(([A-Za-z0-9\-._]*)(:[0-9]{0,5})?)"};
    static const std::regex kBracketed{R"(\[([A-Za-z0-9\-._]+)\](:[0-9]{0,5})?)"};
    static const std::regex kNumber{R"(([^]*\.)?([0-9]+|0[xX][0-9A-Fa-f]*)\.?)"};
    static const std::regex kQuad{
        R"(((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(\.(?!\.?$)|\.?$)){4})"};
    static const std::regex kOddLabel{R"(([^]*\.)?[xX][nN]--([^.]*-)?(\.[^]*)?)"};
    std::smatch found;
    if (host.find('\n') != std::string::npos || host.find('\r') != std::string::npos) {
        shapes.insert(HeadShape::BadHost);
        return lower(host);
    }
    if (const std::string address = slow_address(host); !address.empty()) {
        return "[" + address + "]";
    }
    if (std::regex_match(host, found, kBracketed)) {
        shapes.insert(HeadShape::BadHost);
    } else if (!std::regex_match(host, found, kName) ||
               std::regex_match(found[1].str(), kOddLabel) ||
               (std::regex_match(found[1].str(), kNumber) &&
                !std::regex_match(found[1].str(), kQuad))) {
        shapes.insert(HeadShape::BadHost);
        return lower(host);
    }
    std::string name = found[1];
    if (name.size() > 1 && name.back() == '.') {
        name.pop_back();
    }
    return lower(name);
}

SlowHead read_slowly(std::string_view all, std::size_t limit, ReadingStance stance) {
    const std::string bytes{all.substr(0, limit)};
    SlowHead head;
    std::size_t begin = 0;
    head.status = slow_status(bytes, stance, begin, head.fault);
    Lines lines = lines_of(bytes, begin);
    const bool is_http09 =
        head.status == HeadStatus::Complete &&
        words_of(bytes.substr(begin, bytes.find('\n', begin) - begin)).version.empty();
    if (is_http09) {
        std::string line = bytes.substr(begin, bytes.find('\n', begin) - begin);
        lines.end = begin + line.size() + 1;
        line.resize(line.size() - (line.back() == '\r' ? 1 : 0));
        lines.lines = lines.raw = {line};
    }
    if (head.status == HeadStatus::Complete && lines.end == 0) {
        head.status = HeadStatus::NeedMore;
    }
    if (head.status == HeadStatus::NeedMore && bytes.size() == limit) {
        head.status = HeadStatus::TooLong;
    }
    if (head.status != HeadStatus::Complete) {
        return head;
    }
    head.size = lines.end;
    if (begin > 0) {
        head.shapes.insert(HeadShape::EmptyLineFirst);
    }
    read_bytes(bytes.substr(0, lines.end), head.shapes);
    const std::optional<std::string> authority = read_line(lines.lines[0], head);
    const std::string headers =
        bytes.substr(begin + lines.lines[0].size(), lines.end - begin - lines.lines[0].size());
    if (!is_http09 && std::any_of(headers.begin(), headers.end(), is_high)) {
        head.shapes.insert(HeadShape::HighByteInHeader);
    }
    read_headers(lines, head);
    read_framing(head);
    read_connection(head);
    read_hosts(authority, head);
    head.ends_connection = head.body.kind == BodyFraming::Kind::UntilClose;
    for (const HeadShape ends : {HeadShape::MissingVersion, HeadShape::LengthAndEncoding,
                                 HeadShape::TransferEncodingIn10, HeadShape::ConnectBody}) {
        head.ends_connection = head.ends_connection || head.shapes.count(ends) != 0;
    }
    return head;
}

}  // namespace sluice::test
