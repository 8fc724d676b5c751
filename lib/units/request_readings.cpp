#include "lib/units/request_readings.hpp"

#include "lib/l7/http1/texts.hpp"
#include "lib/units/unit_text.hpp"

namespace sluice {
namespace {

constexpr TextFieldSet kTargetTexts{TextField::HttpUri, TextField::HttpPath, TextField::HttpQuery};

// Where readings differ.
enum Doubt : unsigned { kTarget = 1, kHost = 2, kHeaders = 4, kCookies = 8, kAll = 15 };

bool differ(const HeaderText& texts) noexcept {
    return http1::as_text(texts.first) != http1::as_text(texts.last);
}

class Readings {
public:
    Readings(const RequestHead& head, const UnitSource& packet, UnitSink& units) noexcept
        : head_{head}, packet_{packet}, units_{units} {}

    void run() noexcept {
        const unsigned doubts = find_target() | find_host() | find_repeated();
        for (unsigned others = 1; others <= doubts && !units_.is_refused(); ++others) {
            if ((others & ~doubts) == 0) {
                add(others);
            }
        }
    }

private:
    [[nodiscard]] unsigned find_target() noexcept {
        if (head_.shapes.among(kTargetDoubts).empty() || !packet_.wanted.meets(kTargetTexts)) {
            return 0;
        }
        target_ = other_target(head_, units_.room());
        if (target_.is_cut) {
            units_.refuse();
        }
        keep(target_.target);
        keep(target_.path);
        return kTarget;
    }
    [[nodiscard]] unsigned find_host() noexcept {
        if (head_.shapes.among(kHostDoubts).empty() || !packet_.wanted.has(TextField::HttpHost)) {
            return 0;
        }
        HeadShapes shapes;
        host_ = other_host(head_, units_.room(), shapes);
        if (shapes.has(HeadShape::BadHost)) {
            units_.drop(Reason::AmbiguousRequest);
        }
        keep(host_);
        return http1::as_text(host_) != http1::as_text(head_.host) ? kHost : 0U;
    }
    [[nodiscard]] unsigned find_repeated() const noexcept {
        unsigned doubts = 0;
        for (const RequestTexts::Place& header : packet_.requests.headers()) {
            const bool repeats =
                header.field != kClientHeader && differ(head_.header(header.place));
            doubts |= repeats ? kHeaders : 0U;
        }
        for (const RequestTexts::Place& cookie : packet_.requests.cookies()) {
            doubts |= differ(head_.cookie(cookie.place)) ? kCookies : 0U;
        }
        return doubts;
    }
    // A text at the beginning of the room stays.
    void keep(ByteView text) noexcept {
        if (text.data() == units_.room().data()) {
            (void)units_.keep(text.size());
        }
    }

    void add(unsigned others) noexcept {
        UnitTexts* const texts = units_.add_other_reading();
        if (texts == nullptr) {
            return;
        }
        if ((others & kTarget) != 0) {
            set(*texts, TextField::HttpUri, target_.target);
            set(*texts, TextField::HttpPath, target_.path);
            set(*texts, TextField::HttpQuery, target_.query);
        }
        if ((others & kHost) != 0) {
            set(*texts, TextField::HttpHost, host_);
        }
        for (const RequestTexts::Place& header : packet_.requests.headers()) {
            if ((others & kHeaders) != 0 && header.field != kClientHeader) {
                set(*texts, header.field, head_.header(header.place).last);
            }
        }
        for (const RequestTexts::Place& cookie : packet_.requests.cookies()) {
            if ((others & kCookies) != 0) {
                set(*texts, cookie.field, head_.cookie(cookie.place).last);
            }
        }
    }
    void set(UnitTexts& texts, TextField field, ByteView text) noexcept {
        if (!packet_.wanted.has(field)) {
            return;
        }
        if (text.data() == nullptr) {
            texts.unset(field);
        } else {
            texts.set(field, lasting_text(text, packet_, units_));
        }
    }

    const RequestHead& head_;
    const UnitSource& packet_;
    UnitSink& units_;
    OtherTarget target_;
    ByteView host_;
};

}  // namespace

void add_other_readings(const RequestHead& head, const UnitSource& packet,
                        UnitSink& units) noexcept {
    Readings{head, packet, units}.run();
}

}  // namespace sluice
