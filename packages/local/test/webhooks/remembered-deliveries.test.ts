import { expect, test } from "vitest";
import { Database } from "../../src/store/database.js";
import { DeliveryRepository } from "../../src/webhooks/delivery-repository.js";
import { newDeliveryId } from "../../src/webhooks/webhooks.js";

test("of deliveries that have ended, the oldest is forgotten first", async () => {
  const database = await Database.open();
  try {
    const deliveries = new DeliveryRepository(database);
    const ids = Array.from({ length: 1010 }, () => newDeliveryId()).sort();
    for (const id of ids) {
      const callback = { url: "https://example.com/", headers: {}, secret: undefined };
      deliveries.add({ id, sandboxId: "s", executionId: "e", createdAt: new Date() }, callback);
      deliveries.change(id, { status: "delivered", payload: "{}" });
    }
    const kept = deliveries.list({}).map(({ id }) => id);
    expect(kept.sort()).toEqual(ids.slice(10));
  } finally {
    database.close();
  }
});
