// One call at a time, always of what was asked last. Calls follow each other no closer than `apart` ms, and no answer of a
// call that was under way at forget() is shown.
export type Pause = (ms: number) => Promise<void>;

export class Newest<Question, Answer> {
  private waiting: { question: Question } | null = null;
  private running = false;
  private round = 0;

  constructor(
    private readonly call: (question: Question) => Promise<Answer>,
    private readonly show: (answer: Answer, question: Question) => void,
    private readonly pause: Pause,
    private readonly apart = 150,
  ) {}

  ask(question: Question): void {
    this.waiting = { question };
    if (!this.running) {
      void this.run();
    }
  }

  forget(): void {
    this.waiting = null;
    this.round += 1;
  }

  private async run(): Promise<void> {
    this.running = true;
    await this.pause(this.apart); // not for each letter that is typed
    while (this.waiting !== null) {
      const { question } = this.waiting;
      this.waiting = null;
      const round = this.round;
      const answer = await this.call(question);
      if (round === this.round) {
        this.show(answer, question);
      }
      await this.pause(this.apart);
    }
    this.running = false;
  }
}
