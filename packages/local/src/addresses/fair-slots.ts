/**
 * Runs so many things at a time, and gives each party its share: a slot that becomes free goes to the party that has the fewest,
 * and no party has more than half of them, so that slow work of one does not hold up that of another.
 */
export class FairSlots {
  readonly #parties = new Map<string, { active: number; readonly waiting: (() => void)[] }>();
  readonly #mostOfParty: number;
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
    this.#mostOfParty = Math.ceil(slots / 2);
  }

  /** Runs `work` when there is a slot for its party. */
  async run<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const party = this.#parties.get(name) ?? { active: 0, waiting: [] };
    this.#parties.set(name, party);
    await new Promise<void>((begin) => {
      party.waiting.push(begin);
      this.#fill();
    });
    try {
      return await work();
    } finally {
      this.#free += 1;
      party.active -= 1;
      if (party.active + party.waiting.length === 0) this.#parties.delete(name);
      this.#fill();
    }
  }

  #fill(): void {
    while (this.#free > 0) {
      const [next] = [...this.#parties.values()]
        .filter(({ active, waiting }) => waiting.length > 0 && active < this.#mostOfParty)
        .sort((one, other) => one.active - other.active);
      if (!next) return;
      this.#free -= 1;
      next.active += 1;
      next.waiting.shift()?.();
    }
  }
}
