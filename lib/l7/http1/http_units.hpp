#pragma once
#include "lib/l7/http1/chunk_scanner.hpp"
#include "lib/l7/http1/request_head.hpp"
#include "lib/l7/stream/stream_reading.hpp"
#include "lib/l7/stream/unit_options.hpp"
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"

namespace sluice {

// doubts_of_readings(), which has the allocations that no reader here makes.
using DoubtFinder = RequestDoubts (*)(const RequestHead& head, const UnitSource& packet);

// Requests of HTTP/1.0 and 1.1, and the bodies behind them. HTTP/2 in clear is recognised and not
// read. A request of which two servers read other texts, and both the same end, is a unit for each
// of its readings under OnAmbiguous::Both, and wherever no service is declared. One per worker.
class HttpUnits {
public:
    explicit HttpUnits(OnAmbiguous on_ambiguous) : on_ambiguous_{on_ambiguous} {}
    // For explanations: of a request that is refused for what it is, the doubts that `doubts_of`
    // finds are noted too.
    void note_doubts_by(DoubtFinder doubts_of) noexcept { find_doubts_ = doubts_of; }

    // True if a request, or empty lines before one, may begin so; there is a byte.
    [[nodiscard]] static bool may_begin(ByteView bytes,
                                        ReadingStance stance = ReadingStance::Anywhere) noexcept;
    // True for a word that a method may begin with, and a message of another protocol may be.
    [[nodiscard]] static bool is_word(ByteView bytes) noexcept;
    [[nodiscard]] StreamReading read(ByteView bytes, const StreamContext& context,
                                     UnitSink& units) noexcept;

    // The head of the latest Unit that is no H2Preface, until the next call.
    [[nodiscard]] const RequestHead& head() const noexcept { return head_; }

    // How far a body that read() has begun goes on in these bytes.
    struct BodyReading {
        std::size_t bytes = 0;
        UnitBody rest{};           // behind them; Sized with no bytes: a head follows
        ChunkLines lines;          // those of them that say where it ends
        bool is_doubtful = false;  // servers may disagree where it ends
        // The body's end cannot be found any more: of a service, the connection ends with it.
        bool is_broken = false;
    };
    [[nodiscard]] static BodyReading read_body(ByteView bytes, const FramingState& state,
                                               UnitSink& units) noexcept;
    // True if a body can have left this state.
    [[nodiscard]] static bool can_be_body(const FramingState& state) noexcept;

private:
    // The reading of a head that is not whole; doubtful: for some server of an enforced service it
    // is.
    [[nodiscard]] StreamReading read_half(ByteView bytes, const FoundHead& found,
                                          const StreamContext& context,
                                          UnitSink& units) const noexcept;
    void add(const UnitSource& packet, UnitSink& units) noexcept;
    void refuse(const UnitSource& packet, bool is_stated, UnitSink& units) const noexcept;
    void leave_out_unread(const UnitSource& packet) noexcept;
    [[nodiscard]] AskedRequest asked(const UnitSource& packet) const noexcept;
    void set_texts(const UnitSource& packet, UnitSink& units, UnitTexts& texts) const noexcept;

    OnAmbiguous on_ambiguous_;
    DoubtFinder find_doubts_ = nullptr;
    RequestHead head_;  // of the request at hand: large, and mostly not written to
};

}  // namespace sluice
