import { randomBytes } from "node:crypto";

export const newDeliveryId = (): string => `whd_${Date.now()}${randomBytes(6).toString("hex")}`;
