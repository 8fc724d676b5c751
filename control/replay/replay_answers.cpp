#include "control/replay/replay_answers.hpp"

#include "control/replay/worker_set.hpp"
#include "lib/respond/act/act_burst.hpp"

namespace sluice {

AnswerSink ReplayAnswers::answer(std::span<const BurstRow> rows, const LoadedSet& rules,
                                 Instant now, Instant captured) {
    static const KeyHasher hash{kReplaySecret};
    AnswerSink answers;
    const Answering answering{*answerer_,
                              {.actions = rules.actions,
                               .plan = rules.answers,
                               .load = rules.load,
                               .now = now,
                               .utc_ahead = captured - now,
                               .hash = hash,
                               .follows = rules.follows_answers()}};
    ReplayedFrames burst{rows};
    act_burst(burst, rules.actions, answers, &answering);
    return answers;
}

}  // namespace sluice
