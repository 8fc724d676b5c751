#include "lib/l7/http1/request_readings.hpp"

#include "lib/l7/http1/byte_classes.hpp"
#include "lib/l7/http1/cookie_list.hpp"
#include "lib/l7/http1/texts.hpp"
#include "lib/l7/stream/unit_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <optional>
#include <span>

namespace sluice {
namespace {

constexpr TextFieldSet kTargetTexts{TextField::HttpUri, TextField::HttpPath, TextField::HttpQuery};

// Differences of readings, in the order in which they are judged where there are too many.
enum Doubt : unsigned {
    kHost = 1,
    kHeaders = 2,
    kAlikeFirst = 4,
    kAlikeLast = 8,
    kFurther = 16,  // each value that is neither
    kCookies = 32,
    kFirstLine = 64,  // of cookies, the last of the first line
    kLastLine = 128,  // the first of the last line
    kFurtherCookies = 256,
    kMethod = 512,
    kTargetHost = 1024,
};
constexpr unsigned kAnyCookies = kCookies | kFirstLine | kLastLine | kFurtherCookies;
constexpr unsigned kAnyHeaders = kHeaders | kAlikeFirst | kAlikeLast | kFurther;

bool differ(const HeaderText& texts) noexcept {
    return http1::as_text(texts.first) != http1::as_text(texts.last);
}

bool is_another(ByteView text, ByteView known) noexcept {
    return http1::is_present(text) &&
           (!http1::is_present(known) || http1::as_text(text) != http1::as_text(known));
}

// Cookies of two lines, as programs read them that know one line alone.
class LineCookies {
public:
    LineCookies(const HeaderText& lines, const WantedHeaders& wanted) noexcept {
        read(lines.first, wanted, [](HeaderText& texts, ByteView value) { texts.first = value; });
        read(lines.last, wanted, [](HeaderText& texts, ByteView value) {
            texts.last = http1::is_present(texts.last) ? texts.last : value;
        });
    }
    // `first`: the last of the first line. `last`: the first of the last line. Absent: none.
    [[nodiscard]] const HeaderText& of(std::uint8_t place) const noexcept { return texts_[place]; }

private:
    template <typename Take>
    void read(ByteView line, const WantedHeaders& wanted, Take&& take) noexcept {
        http1::for_each_cookie(
            line, wanted, [&](std::uint8_t place, ByteView value) { take(texts_[place], value); });
    }
    std::array<HeaderText, WantedHeaders::kMaxCookies> texts_{};
};

class Readings {
public:
    Readings(const RequestHead& head, const UnitSource& packet, UnitSink& units) noexcept
        : head_{head}, packet_{packet}, units_{units} {}

    void run(ReadingsOf which) noexcept {
        find_targets();
        const unsigned doubts =
            find_host() | (which == ReadingsOf::All ? find_repeated() | find_method() : 0U);
        unsigned others = 0;
        do {
            if (std::popcount(others & kAnyCookies) <= 1 &&
                std::popcount(others & kAnyHeaders) <= 1) {
                add_each(others);
            }
            others = (others - doubts) & doubts;  // the next of their subsets
        } while (others != 0);
    }

private:
    void find_targets() noexcept {
        const bool names_host =
            head_.shapes.has(HeadShape::NetworkPath) && packet_.wanted.has(TextField::HttpHost);
        const bool reads_targets = names_host || packet_.wanted.meets(kTargetTexts);
        if (head_.shapes.among(kTargetDoubts).empty() || !reads_targets) {
            return;
        }
        targets_ = other_targets(head_, names_host || packet_.wanted.has(TextField::HttpPath),
                                 units_.room());
        const ByteView made = units_.keep(targets_.used);
        if (targets_.is_cut) {
            refuse();
        }
        if (targets_.has_bad_host && packet_.wanted.has(TextField::HttpHost)) {
            units_.note_doubts({HeadShape::BadNetworkHost}, DoubtOutcome::Refused);
            units_.drop(Reason::AmbiguousRequest);
        }
        if (targets_.has_nul && packet_.wanted.has(TextField::HttpPath)) {
            units_.note_doubts({HeadShape::EncodedNul}, DoubtOutcome::Refused);
            units_.drop(Reason::AmbiguousRequest);
        }
        for (OtherTarget& target : std::span{targets_.all}.first(targets_.count)) {
            make_last(TextField::HttpPath, made, target.path);
            make_last(TextField::HttpHost, made, target.host);
            make_last(TextField::HttpUri, made, target.target);
            make_last(TextField::HttpQuery, made, target.query);
        }
    }
    // There are more readings, or there is more text, than there is room for.
    void refuse() noexcept {
        units_.note_too_many_readings();
        units_.refuse();
    }
    // Makes a text last, whatever readings it is a part of.
    void make_last(TextField field, ByteView made, ByteView& text) noexcept {
        const std::less_equal<> before;
        const bool is_made = before(made.data(), text.data()) &&
                             before(text.data() + text.size(), made.data() + made.size());
        if (text.data() != nullptr && packet_.wanted.has(field) && !is_made) {
            text = lasting_text(text, packet_, units_);
        }
    }
    [[nodiscard]] unsigned find_host() noexcept {
        if (head_.shapes.among(kHostDoubts).empty() || !packet_.wanted.has(TextField::HttpHost)) {
            return 0;
        }
        HeadShapes shapes;
        host_ = other_host(head_, units_.room(), shapes);
        if (shapes.has(HeadShape::BadHost)) {
            units_.note_doubts({HeadShape::BadHost}, DoubtOutcome::Refused);
            units_.drop(Reason::AmbiguousRequest);
        }
        keep(host_);
        return http1::as_text(host_) != http1::as_text(head_.host) ? kHost : 0U;
    }
    [[nodiscard]] unsigned find_method() noexcept {
        if (!head_.shapes.has(HeadShape::MethodCase) ||
            !packet_.wanted.has(TextField::HttpMethod)) {
            return 0;
        }
        const std::span<std::byte> room = units_.room();
        if (room.size() < head_.method.size()) {
            refuse();
            return 0;
        }
        std::transform(head_.method.begin(), head_.method.end(), room.begin(), http1::to_upper);
        method_ = units_.keep(head_.method.size());
        return kMethod;
    }
    [[nodiscard]] unsigned find_repeated() noexcept {
        unsigned doubts = 0;
        for (const RequestTexts::Place& header : packet_.requests.headers()) {
            if (header.field == kClientHeader) {
                continue;  // a proxy's
            }
            const HeaderText own = head_.header(header.place);
            const HeaderText alike = head_.alike(header.place);
            doubts |= differ(own) ? kHeaders : 0U;
            doubts |= is_another(alike.first, own.first) ? kAlikeFirst : 0U;
            doubts |= differ(alike) ? kAlikeLast : 0U;
        }
        for (const RequestTexts::Place& cookie : packet_.requests.cookies()) {
            doubts |= differ(head_.cookie(cookie.place)) ? kCookies : 0U;
        }
        doubts |= find_further(head_.further, HeadShape::RepeatedHeader) ? kFurther : 0U;
        doubts |=
            find_further(head_.further_cookies, HeadShape::RepeatedCookie) ? kFurtherCookies : 0U;
        return doubts | find_line_cookies();
    }
    // Are there any? With more than are kept the request is refused.
    [[nodiscard]] bool find_further(const FurtherValues& further, HeadShape shape) noexcept {
        if (further.is_cut()) {
            units_.note_doubts({shape}, DoubtOutcome::Refused);
            units_.drop(Reason::AmbiguousRequest);
        }
        return !further.values().empty();
    }
    // Some servers know one Cookie line, and of one program or another either end of it.
    [[nodiscard]] unsigned find_line_cookies() noexcept {
        const HeaderText lines = head_.header(FramingHeader::Cookie);
        if (lines.first.data() == lines.last.data() ||
            !head_.shapes.has(HeadShape::RepeatedCookie)) {
            return 0;
        }
        line_cookies_.emplace(lines, packet_.requests.wanted());
        unsigned doubts = 0;
        for (const RequestTexts::Place& cookie : packet_.requests.cookies()) {
            const HeaderText& known = line_cookies_->of(cookie.place);
            const HeaderText ends = head_.cookie(cookie.place);
            doubts |= differ({known.first, ends.first}) ? kFirstLine : 0U;
            doubts |= differ({known.last, ends.last}) ? kLastLine : 0U;
        }
        return doubts;
    }
    // Absent: the first reading's.
    [[nodiscard]] ByteView header(std::uint8_t place, unsigned others) const noexcept {
        if ((others & kFurther) != 0) {
            return further_->place == place ? further_->text : ByteView{};
        }
        return (others & kHeaders) != 0      ? head_.header(place).last
               : (others & kAlikeFirst) != 0 ? head_.alike(place).first
               : (others & kAlikeLast) != 0  ? head_.alike(place).last
                                             : ByteView{};
    }
    [[nodiscard]] ByteView cookie(std::uint8_t place, unsigned others) const noexcept {
        if ((others & kFurtherCookies) != 0) {
            return further_cookie_->place == place ? further_cookie_->text
                                                   : head_.cookie(place).first;
        }
        return (others & kCookies) != 0     ? head_.cookie(place).last
               : (others & kFirstLine) != 0 ? line_cookies_->of(place).first
                                            : line_cookies_->of(place).last;
    }
    // A text at the beginning of the room stays.
    void keep(ByteView text) noexcept {
        if (text.data() == units_.room().data()) {
            (void)units_.keep(text.size());
        }
    }

    void add_each(unsigned others) noexcept {
        if ((others & kFurther) == 0) {
            add_each_cookie(others);
            return;
        }
        for (const FurtherValues::Value& value : head_.further.values()) {
            further_ = &value;
            add_each_cookie(others);
        }
    }
    void add_each_cookie(unsigned others) noexcept {
        if ((others & kFurtherCookies) == 0) {
            add_all(others);
            return;
        }
        for (const FurtherValues::Value& value : head_.further_cookies.values()) {
            further_cookie_ = &value;
            add_all(others);
        }
    }
    // Each target with these others.
    void add_all(unsigned others) noexcept {
        if (others != 0) {
            add(nullptr, others);
        }
        for (const OtherTarget& target : targets_.readings()) {
            add(&target, others);
            if (!target.host.empty() && (others & kHost) == 0) {
                add(&target, others | kTargetHost);
            }
        }
    }
    void add(const OtherTarget* target, unsigned others) noexcept {
        if (++count_ > kMostOtherReadings) {
            units_.note_too_many_readings();
            units_.drop(Reason::AmbiguousRequest);
            return;
        }
        UnitTexts* const texts = units_.is_refused() ? nullptr : units_.add_other_reading();
        if (texts == nullptr) {
            return;
        }
        if (target != nullptr) {
            set_lasting(*texts, TextField::HttpPath, target->path);
        }
        if (target != nullptr && target->is_other) {
            set_lasting(*texts, TextField::HttpUri, target->target);
            set_lasting(*texts, TextField::HttpQuery, target->query);
        }
        if ((others & kHost) != 0) {
            set(*texts, TextField::HttpHost, host_);
        }
        if ((others & kMethod) != 0) {
            set_lasting(*texts, TextField::HttpMethod, method_);
        }
        if (target != nullptr && (others & kTargetHost) != 0) {
            set_lasting(*texts, TextField::HttpHost, target->host);
        }
        for (const RequestTexts::Place& header : packet_.requests.headers()) {
            const ByteView text = this->header(header.place, others);
            if (header.field != kClientHeader && http1::is_present(text)) {
                set(*texts, header.field, text);
            }
        }
        for (const RequestTexts::Place& cookie : packet_.requests.cookies()) {
            if ((others & kAnyCookies) != 0) {
                set(*texts, cookie.field, this->cookie(cookie.place, others));
            }
        }
    }
    void set(UnitTexts& texts, TextField field, ByteView text) noexcept {
        const bool is_there = packet_.wanted.has(field) && text.data() != nullptr;
        set_lasting(texts, field, is_there ? lasting_text(text, packet_, units_) : text);
    }
    void set_lasting(UnitTexts& texts, TextField field, ByteView text) noexcept {
        if (!packet_.wanted.has(field)) {
            return;
        }
        if (text.data() == nullptr) {
            texts.unset(field);
        } else {
            texts.set(field, text);
        }
    }

    const RequestHead& head_;
    const UnitSource& packet_;
    UnitSink& units_;
    OtherTargets targets_;
    ByteView host_;
    ByteView method_;  // in capitals
    std::size_t count_ = 0;
    std::optional<LineCookies> line_cookies_;
    const FurtherValues::Value* further_ = nullptr;         // of the reading at hand
    const FurtherValues::Value* further_cookie_ = nullptr;  // likewise
};

}  // namespace

void add_other_readings(const RequestHead& head, const UnitSource& packet, ReadingsOf which,
                        UnitSink& units) noexcept {
    Readings{head, packet, units}.run(which);
}

}  // namespace sluice
