"""The tables of the state database, version by version."""

from __future__ import annotations

VERSION = 6

FIRST = """
CREATE TABLE conversations (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  harness TEXT NOT NULL,
  session TEXT NOT NULL,
  agent TEXT NOT NULL,
  parent TEXT,
  cwd TEXT NOT NULL DEFAULT '',
  title TEXT NOT NULL DEFAULT '',
  headless INTEGER NOT NULL DEFAULT 0,
  last_sequence INTEGER NOT NULL DEFAULT 0,
  cursor INTEGER NOT NULL DEFAULT 0,
  total_steps INTEGER NOT NULL DEFAULT 0,
  reflected_steps INTEGER NOT NULL DEFAULT 0,
  unreflected_bytes INTEGER NOT NULL DEFAULT 0,
  pending_compaction TEXT,
  consecutive_failures INTEGER NOT NULL DEFAULT 0,
  next_eligible_at TEXT,
  suspect TEXT,
  last_at TEXT NOT NULL DEFAULT '',
  hidden INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE entries (
  conversation INTEGER NOT NULL REFERENCES conversations (id),
  sequence INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  message_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  canonical INTEGER NOT NULL,
  step INTEGER NOT NULL,
  text TEXT NOT NULL,
  tool TEXT NOT NULL,
  arguments TEXT NOT NULL,
  result TEXT,
  at TEXT NOT NULL,
  size INTEGER NOT NULL,
  hidden INTEGER NOT NULL DEFAULT 0,
  UNIQUE (conversation, sequence)
) STRICT;
CREATE INDEX entries_of_message ON entries (conversation, message_id, sequence);
CREATE TABLE boundaries (
  conversation INTEGER NOT NULL REFERENCES conversations (id),
  record TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (conversation, record)
) STRICT;
CREATE TABLE sources (
  path TEXT PRIMARY KEY,
  harness TEXT NOT NULL,
  conversation TEXT NOT NULL,
  device INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  size INTEGER NOT NULL,
  head_length INTEGER NOT NULL,
  head_hash TEXT NOT NULL,
  resume_at INTEGER NOT NULL,
  read_to INTEGER NOT NULL,
  bad_lines INTEGER NOT NULL DEFAULT 0,
  degraded TEXT NOT NULL DEFAULT '',
  read_at TEXT NOT NULL
) STRICT;
CREATE TABLE source_rows (
  path TEXT NOT NULL REFERENCES sources (path) ON DELETE CASCADE,
  row TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (path, row)
) STRICT, WITHOUT ROWID;
CREATE TABLE redactions (
  rule TEXT PRIMARY KEY,
  count INTEGER NOT NULL
) STRICT;
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  slot TEXT NOT NULL,
  pipeline TEXT NOT NULL,
  repository TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'active', 'settled')),
  phase TEXT NOT NULL,
  trigger TEXT NOT NULL,
  origin TEXT NOT NULL,
  priority INTEGER NOT NULL,
  focus TEXT NOT NULL DEFAULT '',
  engine TEXT NOT NULL,
  model TEXT NOT NULL DEFAULT '',
  dry_run INTEGER NOT NULL DEFAULT 0,
  recent_n INTEGER NOT NULL DEFAULT 0,
  target TEXT NOT NULL DEFAULT '',
  over_budget INTEGER NOT NULL DEFAULT 0,
  calls_model INTEGER NOT NULL DEFAULT 0,
  parts TEXT NOT NULL DEFAULT '[]',
  sandboxed INTEGER NOT NULL DEFAULT 0,
  token TEXT NOT NULL,
  owner_host TEXT NOT NULL,
  owner_boot TEXT NOT NULL,
  owner_pid INTEGER NOT NULL,
  reserved_at TEXT NOT NULL,
  started_at TEXT,
  heartbeat_at TEXT,
  ended_at TEXT,
  branch TEXT,
  base TEXT,
  tip TEXT,
  merge_commit TEXT,
  outcome TEXT,
  reason TEXT,
  detail TEXT NOT NULL DEFAULT '',
  findings TEXT NOT NULL DEFAULT '[]',
  usage TEXT NOT NULL DEFAULT '{}',
  kept_ref TEXT,
  CHECK ((state = 'settled') = (outcome IS NOT NULL))
) STRICT;
CREATE TABLE set_aside (
  run TEXT NOT NULL REFERENCES runs (id),
  conversation TEXT NOT NULL,
  first_entry TEXT NOT NULL,
  last_entry TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (run, conversation)
) STRICT;
CREATE TABLE parks (
  route TEXT PRIMARY KEY,
  state TEXT NOT NULL
) STRICT;
CREATE TABLE marks (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_active_run_per_slot ON runs (slot) WHERE state = 'active';
CREATE UNIQUE INDEX one_pending_run_per_pipeline ON runs (pipeline) WHERE state = 'pending';
CREATE TABLE run_snapshots (
  run TEXT NOT NULL REFERENCES runs (id),
  position INTEGER NOT NULL,
  conversation TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('advance', 'replay')),
  first_sequence INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,
  first_entry TEXT NOT NULL,
  last_entry TEXT NOT NULL,
  entries INTEGER NOT NULL,
  size INTEGER NOT NULL,
  backlog_remaining INTEGER NOT NULL,
  PRIMARY KEY (run, position)
) STRICT;
"""

SECOND = """
ALTER TABLE conversations ADD COLUMN here TEXT NOT NULL DEFAULT '';
CREATE TABLE left_out (
  conversation TEXT NOT NULL,
  entry TEXT NOT NULL,
  why TEXT NOT NULL,
  PRIMARY KEY (conversation, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX left_out_entries ON left_out (entry);
CREATE TABLE silences (
  conversation TEXT NOT NULL,
  since TEXT NOT NULL,
  until TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX silences_of_conversation ON silences (conversation);
"""

THIRD = """
CREATE TABLE unwanted (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  path TEXT NOT NULL,
  line TEXT NOT NULL,
  why TEXT NOT NULL CHECK (why IN ('undone', 'rejected')),
  at TEXT NOT NULL
) STRICT;
CREATE INDEX unwanted_lines ON unwanted (line);
CREATE TABLE rewritten (
  old TEXT PRIMARY KEY,
  new TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

FOURTH = """
CREATE TABLE decision_jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  bank TEXT NOT NULL,
  conversation TEXT NOT NULL,
  message TEXT NOT NULL,
  entry TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'done', 'skipped')),
  why TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0,
  rejected TEXT NOT NULL DEFAULT '{}',
  queued_at TEXT NOT NULL,
  ended_at TEXT NOT NULL DEFAULT '',
  UNIQUE (conversation, message)
) STRICT;
CREATE INDEX decision_jobs_waiting ON decision_jobs (id) WHERE state = 'queued';
CREATE TABLE deltas (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  version INTEGER NOT NULL,
  bank TEXT NOT NULL,
  conversation TEXT NOT NULL,
  entry TEXT NOT NULL,
  at TEXT NOT NULL,
  origin TEXT NOT NULL,
  kind TEXT NOT NULL,
  statement TEXT NOT NULL,
  rejected_alternative TEXT NOT NULL,
  rationale TEXT NOT NULL,
  source TEXT NOT NULL,
  evidence TEXT NOT NULL,
  evidence_start INTEGER NOT NULL,
  evidence_end INTEGER NOT NULL,
  corrective INTEGER NOT NULL,
  regression INTEGER NOT NULL,
  subtle INTEGER NOT NULL,
  consumed_by TEXT NOT NULL DEFAULT '',
  consumed_at TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX deltas_of_bank ON deltas (bank, consumed_by);
CREATE INDEX deltas_of_entry ON deltas (entry);
CREATE TABLE decision_bullets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  bank TEXT NOT NULL,
  file TEXT NOT NULL,
  text TEXT NOT NULL,
  deltas TEXT NOT NULL,
  run TEXT NOT NULL,
  at TEXT NOT NULL,
  gone_by TEXT NOT NULL DEFAULT '',
  gone_at TEXT NOT NULL DEFAULT '',
  instead TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX decision_bullets_of_bank ON decision_bullets (bank, text);
"""

# What is journaled by then is passed by: nobody pays for years of history unasked.
FIFTH = """
CREATE TABLE segments (
  conversation TEXT PRIMARY KEY,
  cursor INTEGER NOT NULL DEFAULT 0,
  ended INTEGER NOT NULL DEFAULT 0,
  consecutive_failures INTEGER NOT NULL DEFAULT 0,
  next_eligible_at TEXT,
  suspect TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO segments (conversation, cursor) SELECT key, last_sequence FROM conversations;
CREATE TABLE recall_uses (
  path TEXT NOT NULL,
  session TEXT NOT NULL,
  day TEXT NOT NULL,
  PRIMARY KEY (path, session, day)
) STRICT, WITHOUT ROWID;
"""

SIXTH = """
CREATE TABLE diary_jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation TEXT NOT NULL,
  message TEXT NOT NULL,
  entry TEXT NOT NULL,
  turn INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('heard', 'judged', 'done', 'skipped')),
  why TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0,
  queued_at TEXT NOT NULL,
  ended_at TEXT NOT NULL DEFAULT '',
  UNIQUE (conversation, message)
) STRICT;
CREATE INDEX diary_jobs_waiting ON diary_jobs (state, id) WHERE state IN ('heard', 'judged');
CREATE TABLE diary_mentions (
  item TEXT NOT NULL,
  conversation TEXT NOT NULL,
  turn INTEGER NOT NULL,
  day TEXT NOT NULL,
  count INTEGER NOT NULL,
  held INTEGER NOT NULL DEFAULT 0,
  sleep TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (item, conversation)
) STRICT, WITHOUT ROWID;
"""

MIGRATIONS: tuple[str, ...] = (FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH)
"""`MIGRATIONS[n]` brings a database from version n to n + 1. Forward only."""
