import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { looksSecret } from "../src/secret-values.js";

it.each([
  ["API_KEY", "x"],
  ["my_secret", "x"],
  ["DB_PASSWORD", ""],
  ["PGPASSFILE_PASSWD", "x"],
  ["GITHUB_TOKEN", "x"],
  ["AWS_CREDENTIALS", "x"],
  ["DATABASE_URL", "postgres://app:hunter2@db.example/app"],
  ["UPSTREAM", "see redis://:hunter2@cache:6379/0"],
  ["SETTING", randomBytes(24).toString("base64url")],
  ["SETTING", randomBytes(32).toString("base64")],
  ["SETTING", randomBytes(20).toString("hex")],
  ["SETTING", "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2ln"],
  ["SETTING", "ghp_0123456789abcdef"],
  ["SETTING", "-----BEGIN PRIVATE SOMETHING"],
])("masks %s", (name, value) => {
  expect(looksSecret(name, value)).toBe(true);
});

it.each([
  ["PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
  ["HOME", "/tmp"],
  ["LANG", "C.UTF-8"],
  ["TERM", "xterm-256color"],
  ["PROJECT", "quarterly-report-for-the-board-of-2026"],
  ["HTTPS_PROXY", "http://127.0.0.1:3128"],
  ["NO_PROXY", "localhost,127.0.0.1,::1"],
  ["BASE_URL", "https://api.example.com/v1/things?page=2"],
  ["COLOUR", "violet-8241"],
  ["EMPTY", ""],
  ["NUMBERS", "12345678901234567890123456789"],
])("shows %s=%s", (name, value) => {
  expect(looksSecret(name, value)).toBe(false);
});
