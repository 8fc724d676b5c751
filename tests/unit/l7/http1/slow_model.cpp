#include "tests/unit/l7/http1/slow_model.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <optional>
#include <regex>

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
    if (version.size() != 8 || version.substr(0, 7) != "HTTP/1." || version[7] < '0' ||
        version[7] > '9') {
        head.shapes.insert(HeadShape::BadVersion);
        return;
    }
    head.minor_version = version[7] == '0' ? 0 : 1;
    if (version[7] > '1') {
        head.shapes.insert(HeadShape::OtherMinorVersion);
    }
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
    const std::size_t method_end = line.find_first_of(" \t");
    head.method = line.substr(0, method_end);
    const std::string rest = strip(line.substr(method_end));
    const std::size_t word = rest.find_last_of(" \t") + 1;
    read_version(rest.substr(word), head);
    head.target = strip(rest.substr(0, word));
    if (line != head.method + " " + head.target + " " + rest.substr(word)) {
        head.shapes.insert(HeadShape::RequestLineSpace);
    }
    if (head.target.find_first_of(" \t") != std::string::npos) {
        head.shapes.insert(HeadShape::SpaceInTarget);
    }
    if (std::any_of(head.target.begin(), head.target.end(), is_high)) {
        head.shapes.insert(HeadShape::HighByteInTarget);
    }
    return read_target(head);
}

void add_header(const std::string& line, std::string value, SlowHead& head) {
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
        const bool folds = is_folded(at + 1);
        for (++at; is_folded(at); ++at) {
            head.shapes.insert(HeadShape::ObsFold);
            value += all.raw[at];
        }
        if (!folds) {
            value.resize(value.size() - (all.raw[at - 1].size() - line.size()));
        }
        add_header(line, strip(value, folds ? " \t\r\n" : " \t"), head);
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
    head.keep_alive = (head.minor_version == 1 || keep) && !close &&
                      head.body.kind != BodyFraming::Kind::UntilClose;
    for (const std::string& value : head.headers["upgrade"]) {
        for (const std::string& part : split(lower(value), ',')) {
            if (strip(part) == "h2c") {
                head.upgrade = HttpUpgrade::H2c;
            } else if (!strip(part).empty() && head.upgrade == HttpUpgrade::None) {
                head.upgrade = HttpUpgrade::Other;
            }
        }
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

HeadStatus slow_status(const std::string& bytes, std::size_t& begin) {
    const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    if (bytes.substr(0, preface.size()) == preface) {
        return HeadStatus::H2Preface;
    }
    if (bytes.size() < preface.size() && preface.substr(0, bytes.size()) == bytes) {
        return HeadStatus::NeedMore;
    }
    while (begin < bytes.size() && (bytes[begin] == '\n' || bytes.substr(begin, 2) == "\r\n")) {
        begin += bytes[begin] == '\n' ? 1 : 2;
    }
    if (begin == bytes.size() || bytes.substr(begin) == "\r") {
        return HeadStatus::NeedMore;
    }
    const std::string rest = bytes.substr(begin);
    const std::size_t method = std::min(rest.find_first_not_of(kTokenBytes), rest.size());
    if (method > 32) {
        return HeadStatus::NotHttp;
    }
    if (method == rest.size()) {
        return HeadStatus::NeedMore;
    }
    if (method == 0 || (rest[method] != ' ' && rest[method] != '\t')) {
        return HeadStatus::NotHttp;
    }
    const std::size_t lf = rest.find('\n');
    if (lf == std::string::npos) {
        return HeadStatus::NeedMore;
    }
    std::string line = rest.substr(0, lf);
    if (line.back() == '\r') {
        line.pop_back();
    }
    const std::string words = strip(line.substr(std::min(method, line.size())));
    const std::size_t word = words.find_last_of(" \t");
    const bool has_version =
        word != std::string::npos && lower(words.substr(word + 1)).substr(0, 5) == "http/";
    return has_version ? HeadStatus::Complete : HeadStatus::NotHttp;
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
        if (is_high(path[i])) {
            encode(static_cast<unsigned char>(path[i]));
        } else if (path[i] != '%') {
            plain += path[i];
        } else if (i + 2 < path.size() && all_in(path.substr(i + 1, 2), "0123456789abcdefABCDEF")) {
            const int byte = std::stoi(path.substr(i + 1, 2), nullptr, 16);
            if (byte != 0 && kept.find(static_cast<char>(byte)) != std::string::npos) {
                plain += static_cast<char>(byte);
            } else {
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
    static const std::regex kName{R"(([A-Za-z0-9\-._~%!$&'()*+,;=]*)(:[0-9]{0,5})?)"};
    static const std::regex kLiteral{R"((\[[A-Za-z0-9\-._~%!$&'()*+,;=:]+\])(:[0-9]{0,5})?)"};
    std::smatch found;
    if (host.find('\n') != std::string::npos || host.find('\r') != std::string::npos) {
        shapes.insert(HeadShape::BadHost);
        return lower(host);
    }
    if (std::regex_match(host, found, kLiteral)) {
        return lower(found[1]);
    }
    if (!std::regex_match(host, found, kName)) {
        shapes.insert(HeadShape::BadHost);
        return lower(host);
    }
    std::string name = found[1];
    if (name.size() > 1 && name.back() == '.') {
        name.pop_back();
    }
    return lower(name);
}

SlowHead read_slowly(std::string_view all, std::size_t limit) {
    const std::string bytes{all.substr(0, limit)};
    SlowHead head;
    std::size_t begin = 0;
    head.status = slow_status(bytes, begin);
    const Lines lines = lines_of(bytes, begin);
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
    if (std::any_of(headers.begin(), headers.end(), is_high)) {
        head.shapes.insert(HeadShape::HighByteInHeader);
    }
    read_headers(lines, head);
    read_framing(head);
    read_connection(head);
    read_hosts(authority, head);
    if (head.method == "CONNECT") {
        head.body = {BodyFraming::Kind::UntilClose};
        head.keep_alive = false;
    }
    return head;
}

}  // namespace sluice::test
