// Generated from openapi/control-plane.yaml by scripts/generate.mjs. Change the contract, then run "npm run generate".
export interface paths {
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say whether the control plane works */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Measure the server, in Prometheus' text format
         * @description Only the server's own key may do this, and only a server that was started with `--metrics` has it. `cloud_sandbox_…`:
         *     waiting machines, boots, sandboxes by status, programs and executions with their durations and outcomes, programs
         *     that wait, connections that sandboxes asked for, and refusals by code.
         */
        get: operations["getServerMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sandboxes, newest first, a page at a time
         * @description Follow `next_cursor` while `has_more` is true. Sandboxes whose deadline has passed are not listed.
         */
        get: operations["listSandboxes"];
        put?: never;
        /**
         * Create a sandbox
         * @description Answers when the sandbox runs and its agent accepts `auth_token`. The template is named by `template_id` or by
         *     `template_name`; its resources are the sandbox's.
         */
        post: operations["createSandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        /** Get a sandbox */
        get: operations["getSandbox"];
        put?: never;
        post?: never;
        /**
         * Delete a sandbox and everything in it
         * @description Its processes are gone when the answer arrives. There is no way back.
         */
        delete: operations["deleteSandbox"];
        options?: never;
        head?: never;
        /**
         * Change the labels of a sandbox, and when it sleeps
         * @description What is left out stays as it is; `metadata` replaces all labels. Idle time that has passed already counts.
         */
        patch: operations["updateSandbox"];
        trace?: never;
    };
    "/v1/sandboxes/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Freeze a running sandbox
         * @description Its processes stop where they are and keep their memory. The deadline goes on, unless `on_timeout` gives it another one.
         */
        post: operations["pauseSandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a paused sandbox go on
         * @description Tokens given before stay valid until they expire.
         */
        post: operations["resumeSandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a stopped sandbox
         * @description The files of `/workspace`, `/tmp` and the home, and the environment variables, are as they were; processes are
         *     not. Tokens given before stay valid until they expire. One that runs stays as it is; one that is paused is 409
         *     SANDBOX_PAUSED.
         */
        post: operations["startSandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a sandbox and keep its files
         * @description Its processes are asked to end and killed 2 s later, also those of executions under way; a paused one is resumed
         *     for that. The files of `/workspace`, `/tmp` and the home are kept. The deadline goes on, unless `on_timeout` gives it
         *     another one, and can be moved; when it passes, the files are deleted. Files that cannot be saved, or not in time, are 507 or 409: the sandbox goes on then.
         */
        post: operations["stopSandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/timeout": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        /** Move the deadline of a sandbox */
        put: operations["setSandboxTimeout"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/token/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a fresh token for a sandbox's agent
         * @description Tokens given before stay valid until they expire.
         */
        post: operations["refreshSandboxToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/metrics/stream": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        /**
         * Follow the metrics of a sandbox
         * @description Server-sent events; the `data` of each is a metrics snapshot of the agent, as JSON.
         */
        get: operations["streamSandboxMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/egress": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        /** List the connections that a sandbox asked for, newest first, a page at a time */
        get: operations["listSandboxEgress"];
        /**
         * Replace the lists of what a sandbox may reach
         * @description Both lists are replaced at once: one that is not given is none. `{ "allow": [] }` refuses everything. Open connections that the new
         *     lists refuse are closed. A sandbox without `internet_access` is 400 INVALID_REQUEST.
         */
        put: operations["setSandboxEgress"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/egress/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer programs that wait for a destination
         * @description With `ask`, an event `egress.held` tells that a program waits for a host that no list names. A destination for which no program
         *     waits (any more) is 409 CONFLICT.
         */
        post: operations["decideSandboxEgress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/links": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a link to a port or a file
         * @description Whoever has the link may use it without a key, until it expires, its sandbox is gone, the key that made it is revoked, or the links of
         *     the sandbox are revoked. A link to a port begins a visit: by host name it sets a cookie for that host alone, by path it is a part of
         *     the path. On a server whose previews are public it is 409 CONFLICT. A file is read by GET, or written by PUT with its bytes as the
         *     body.
         */
        post: operations["createSandboxLink"];
        /**
         * Revoke all links of a sandbox
         * @description Visits that have begun end too, with their open connections. Links that are made later are valid.
         */
        delete: operations["revokeSandboxLinks"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        /** List the secrets of a sandbox, without their values */
        get: operations["listSandboxSecrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/secrets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
                /** @description The secret's name. */
                name: string;
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Give a sandbox a secret, or one that it has another value or other rules
         * @description The next request has the new value: open connections to the hosts are closed. A secret that is replaced keeps its placeholder
         *     unless `placeholder` is given. Later executions have the environment variable; running programs do not get it. A sandbox that was created
         *     without `secrets` is 409 CONFLICT.
         */
        put: operations["setSandboxSecret"];
        post?: never;
        /**
         * Take a secret from a sandbox
         * @description Open connections to its hosts are closed. Running programs keep the placeholder, which is then refused. Succeeds if there is no such secret.
         */
        delete: operations["deleteSandboxSecret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        /**
         * List what code has changed in a sandbox
         * @description Compares the sandbox's copy of a directory with the directory as it is now, or the sandbox's files with those that a new sandbox
         *     begins with: one of its template, or of a snapshot. Such a sandbox is started for the comparison, without access to the
         *     internet, counts as one meanwhile, and is not listed. Compared is what a snapshot keeps; mounts are left out. A file whose content
         *     and execute bits are the same is no change. At most 100,000 changes are listed, and 32 MiB of them; more are 413
         *     PAYLOAD_TOO_LARGE, and so are more than 1,000,000 files on one side. A stopped sandbox is 409 CONFLICT, and a paused one that has no copy too.
         */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        /** Show what code has changed in one file, as a unified diff */
        get: operations["getDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/apply": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write accepted changes to the directory that the sandbox has a copy of
         * @description Each file is replaced at once or stays as it is, and each path has its own outcome. Applying the same paths again changes
         *     nothing. A path that changed in the directory since the copy was made is a conflict. Nothing is written outside the directory, or
         *     through a link. If the directory itself was replaced, the answer is 409 CONFLICT and nothing is written.
         */
        post: operations["applyChanges"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep the files of a sandbox as they are now
         * @description The sandbox goes on afterwards; where it can be frozen, it stands still while its files are read, so that they are of one
         *     moment. One that is stopped can be kept too. Kept are its files and environment variables, and with its template its limits;
         *     not its processes, the variables of interpreters, volumes and values of secrets. A sandbox with a copy of a directory is 409
         *     CONFLICT. With 100 snapshots of one API key, or what the server was started with, the next is 429 RESOURCE_LIMIT_ERROR.
         */
        post: operations["createSnapshot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make sandboxes that begin with the files of this one
         * @description All begin with the same files, as from a snapshot that is not kept, and with the template, limits, labels, egress, volumes, secrets
         *     and sleep settings of this sandbox, but no name. If the API key has no room for all of them, none is made: 429
         *     RESOURCE_LIMIT_ERROR.
         */
        post: operations["forkSandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandboxes/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a sandbox the files of a snapshot
         * @description The files that it has now are gone, its processes end, and it runs again with those of the snapshot. Its id, links, labels, secrets
         *     and settings stay. A snapshot of another template, or of a sandbox with a larger disk, is 409 CONFLICT. If it cannot be
         *     started, it is stopped, with the files of the snapshot.
         */
        post: operations["restoreSandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run one program that keeps nothing
         * @description Runs `code` as a new sandbox would, and answers as the agent's `/execute/rich` when it has ended. Nothing of it is
         *     left then: no sandbox, process or file. A program whose caller goes away is killed. A server that has this says
         *     `executions: true` at `/health`.
         *
         *     The fastest way is from a template that was not built here, in `python`, `javascript` or `bash`. Every
         *     other program takes longer, as a sandbox is created for it; the answer is the same.
         *
         *     With `stream: true` the answer begins when the program does: frames as of the agent's `/execute/stream`, `stdout` and
         *     `stderr` as they are written, then `result` or `error`, and always `complete` as the last. With `Accept:
         *     text/event-stream` they are events named by their type, with the frame as `data`; otherwise each is a line of JSON
         *     (`application/x-ndjson`). Comments, or empty lines, are sent while the program is silent. A `result` has also `id`,
         *     `isolation` and `language`. A program waits while its reader is far behind.
         */
        post: operations["runProgram"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the public templates and those of the account */
        get: operations["listTemplates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/templates/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The template's name or its id; delete takes the id. */
                name: string;
            };
            cookie?: never;
        };
        /**
         * Get a template by its name or id
         * @description A template just built can be used once `status` is `active` and `is_active` is true.
         */
        get: operations["getTemplate"];
        put?: never;
        post?: never;
        /**
         * Delete a template of the account by its id
         * @description Sandboxes made from it go on. A public template is 403.
         */
        delete: operations["deleteTemplate"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/templates/build": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start building a template
         * @description Answers at once; follow the build by its status and logs. Files for `COPY` steps are uploaded before, see `createUploadLink`. A name in use is 409 unless `update` is true, and `update` of a name that is not in use is 404.
         */
        post: operations["buildTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/templates/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a template of a container image
         * @description The body is the image's file: a tar that `docker save` writes, or a tar of an OCI image layout; it may be gzipped. Of
         *     an index for several platforms, the server takes its own. The answer comes when sandboxes can be created from the
         *     template; ending the connection before that ends the import, and nothing of it is left.
         *
         *     A name in use is 409 unless `update` is true. A file that is no image, is damaged, or is for another platform is 400.
         *     A server whose sandboxes start from images of a Docker daemon or of a cluster refuses with 400 TEMPLATES_UNAVAILABLE.
         */
        post: operations["importTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/templates/build/{buildID}/status": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The build's id; the id of its template does too. */
                buildID: components["parameters"]["BuildId"];
            };
            cookie?: never;
        };
        /** Get the state of a build */
        get: operations["getTemplateBuildStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/templates/build/{buildID}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The build's id; the id of its template does too. */
                buildID: components["parameters"]["BuildId"];
            };
            cookie?: never;
        };
        /**
         * Read or follow the log of a build
         * @description With `Accept: text/event-stream`, a stream: events named `log` (data: `TemplateBuildLogEvent`) and a last one
         *     named `done` (data: `{"status": …}`). Otherwise one JSON answer with the text since `offset`; pass its `offset`
         *     with the next call until `complete`.
         */
        get: operations["getTemplateBuildLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/templates/files/upload-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get an address to upload the files of a COPY step to
         * @description Where `present` is true the server has files of this hash already. Otherwise PUT a gzipped tar of them to `upload_url`, with `Content-Type: application/gzip` and without credentials.
         */
        post: operations["createUploadLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/templates/files/{files_hash}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The hash that the upload link was asked for. */
                files_hash: string;
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Upload the files of a COPY step
         * @description The address of an upload link, with the grant in it; it needs no other credentials.
         */
        put: operations["uploadTemplateFiles"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook deliveries, newest first, a page at a time
         * @description Those that are not done, and the latest of those that are.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The delivery's id. */
                id: components["parameters"]["WebhookDeliveryId"];
            };
            cookie?: never;
        };
        /** Get a webhook delivery */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook-deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The delivery's id. */
                id: components["parameters"]["WebhookDeliveryId"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver again what was delivered or given up
         * @description The same report is sent with the same `X-HOPX-Delivery`.
         */
        post: operations["redeliverWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys and what they use, newest first
         * @description Only the server's own key may do this. Its answer has the server's own key neither as text nor as entry.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description Only the server's own key may do this. The answer is the only one with the key: the server keeps a hash of it. A key
         *     sees, and counts, its own sandboxes alone. Names, idempotency keys and the queue for programs are its own too.
         *     Templates are shared: every key lists them and creates sandboxes from them, only the server's own key builds, imports
         *     and deletes them.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The key's id or its name. */
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description From now on requests with the key, and with the sandbox tokens that it was given, are 401 API_KEY_REVOKED. What runs
         *     already is not ended: its sandboxes live until their deadline or until the server's own key deletes them.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the volumes, oldest first */
        get: operations["listVolumes"];
        put?: never;
        /**
         * Create a volume
         * @description A volume is a directory that sandboxes mount and that outlives them: see `mounts` of createSandbox. Several sandboxes may
         *     mount one at a time. An API key sees its own volumes alone; the server's own key sees all. A server that cannot limit the
         *     size of volumes refuses with 400 VOLUMES_UNAVAILABLE.
         */
        post: operations["createVolume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The volume's id or its name. */
                id: string;
            };
            cookie?: never;
        };
        /** Get a volume */
        get: operations["getVolume"];
        put?: never;
        post?: never;
        /**
         * Delete a volume and its files
         * @description A volume that a sandbox mounts, also a stopped one, is 409 VOLUME_IN_USE; the message names the sandboxes.
         */
        delete: operations["deleteVolume"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the snapshots, newest first
         * @description An API key sees its own alone; the server's own key sees all.
         */
        get: operations["listSnapshots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/snapshots/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The snapshot's id or its name. */
                id: string;
            };
            cookie?: never;
        };
        /** Get a snapshot */
        get: operations["getSnapshot"];
        put?: never;
        post?: never;
        /**
         * Delete a snapshot
         * @description Sandboxes that began with it, and snapshots of those, stay as they are.
         */
        delete: operations["deleteSnapshot"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the stored secrets, without their values
         * @description An API key sees its own alone, and so does the server's own key.
         */
        get: operations["listSecrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The secret's name. `from` of a sandbox's secret names it. */
                name: string;
            };
            cookie?: never;
        };
        get?: never;
        /**
         * Store a secret, or give one that is stored another value or other rules
         * @description It has a `value`, and no `from`. Sandboxes name it instead of carrying its value. Those that do have the new value from the next request on; they
         *     keep the rules that it had when they named it. A server without a key that seals values has them in memory alone: after a
         *     restart the secret is `lost`. An API key stores 100 at most.
         */
        put: operations["setSecret"];
        post?: never;
        /**
         * Delete a stored secret
         * @description Sandboxes that name it cannot use it from the next request on: it is `lost`. Succeeds if there is no such secret.
         */
        delete: operations["deleteSecret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow what happens to the key's sandboxes
         * @description Server-sent events: exactly those of what the key may see, in the order in which they happened. The first one, `opened`, has no
         *     `Event` as its data; its `id` is where the stream begins. Each later one has its id as `id`, and an `Event` as `data`. While none
         *     comes, another `opened` now and then has where the stream is, and so has the `id` of each `sandbox.metrics`. A
         *     stream that broke off goes on after the last id that was read. Events are kept for 24 hours, and the last 20,000 of each key; after
         *     older ones, and after those of a server that kept nothing, the answer is 404 EVENTS_GONE. Comments are sent while nothing happens.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhooks of the key, the oldest first
         * @description With the server's own key, those of all.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Send events to a URL
         * @description From now on each event that the key may see is sent as an `Event`, at least once, by POST, signed and repeated as reports of
         *     asynchronous executions are, and with the same headers; `GET /v1/webhook-deliveries` has what became of it. Requests may arrive in another
         *     order; the numbers at the end of the events' ids are in the order of what happened. A key has at most 20 webhooks. One whose receiver does not
         *     take 200 events waits for it, as long as events are kept. With the key, they end.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The webhook's id. */
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Send no more events to a URL
         * @description Events that wait for delivery are not sent any more; their deliveries fail. An attempt that has begun is not interrupted.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Every error of the control plane. Some servers send only part of it. */
        ErrorResponse: {
            /** @description The error as an object, or only its text. */
            error?: components["schemas"]["ErrorBody"] | string;
            /** @description What went wrong. Some servers add what to do. */
            message?: string;
            /** @description What to do next. `message` and `error.message` end with it. */
            hint?: string;
            /**
             * @description What went wrong, for programs.
             * @example SANDBOX_NOT_FOUND
             */
            code?: string;
            request_id?: string;
            /** Format: date-time */
            timestamp?: string;
            /** @description Seconds to wait before the next try. */
            retry_after?: number;
        };
        ErrorBody: {
            /** @description What went wrong and what to do. */
            message?: string;
            /** @description What went wrong, for programs. */
            code?: string;
            request_id?: string;
            details?: components["schemas"]["ErrorDetails"];
        };
        /** @description Facts that depend on the error. */
        ErrorDetails: {
            /** @description The fields that are wrong. */
            errors?: {
                field?: string;
                message?: string;
            }[];
            retry_after_seconds?: number;
            limit?: number;
            current?: number;
            available?: number;
            upgrade_url?: string;
        } & {
            [key: string]: unknown;
        };
        Health: {
            /**
             * @description `healthy`; some servers say `ok`. `degraded` where it answers and something does not work.
             * @example healthy
             */
            status: string;
            /**
             * @description `full` while nothing new can be kept: creates, stops, starts and new deadlines are answered with 507. `unavailable` while the cluster that keeps the records does not answer: creates, deletes and new deadlines are answered with 503.
             * @enum {string}
             */
            storage?: "ok" | "full" | "unavailable";
            /** @description What does not work and what to do about it. */
            message?: string;
            version?: string;
            /**
             * @description What starts the sandboxes.
             * @example bubblewrap
             */
            runtime?: string;
            isolation?: components["schemas"]["Isolation"];
            /** @description Whether a create that is repeated with its Idempotency-Key gives the first one's sandbox. */
            idempotent_creates?: boolean;
            /** @description Whether `POST /v1/executions` is there. */
            executions?: boolean;
            /** Format: date-time */
            timestamp?: string;
        };
        /**
         * @description What stands between a sandbox and its host, from weakest to strongest: kernel namespaces, a container, a kernel in user space, a virtual machine.
         * @enum {string}
         */
        Isolation: "namespace" | "container" | "gvisor" | "microvm";
        /**
         * @description `creating` until the agent answers, `running`, `paused` (frozen, memory kept), `stopped` (files kept), `error`
         *     (it broke down), `deleted`.
         * @enum {string}
         */
        SandboxStatus: "creating" | "running" | "paused" | "stopped" | "error" | "deleted";
        /**
         * @description What happens at the deadline of a running sandbox. `delete`: it is gone. `stop`: its processes end, its files are kept.
         *     `pause`: it is frozen, its memory kept. After `stop` or `pause`, and whenever such a sandbox is stopped or paused before, it has
         *     another deadline, by the server's own setting, and is deleted then. Once it runs again, it has `timeout_seconds` from then.
         *     A sandbox that cannot be stopped, after further attempts, is paused at its deadline; if it cannot be paused either, it has the
         *     status `error` when it would have been deleted in its sleep. `failure_reason` says why.
         *     Where this is changed while a sandbox sleeps, and gives it the other one of these two deadlines, that one begins with the change.
         * @enum {string}
         */
        OnTimeout: "delete" | "stop" | "pause";
        /**
         * @description Why a sandbox is stopped or paused: `requested` by a call, `idle` for its idle time, `timeout` at its deadline, `shutdown`
         *     with its server.
         * @enum {string}
         */
        StopReason: "requested" | "idle" | "timeout" | "shutdown";
        /** @description What a sandbox may use. */
        Resources: {
            /** @description Processors, a part of one counted as one; `limits` of the sandbox tells it exactly. */
            vcpu?: number;
            /** @description Memory in MiB. */
            memory_mb?: number;
            /** @description Disk in MiB. */
            disk_mb?: number;
        };
        Sandbox: {
            /** @example 1762778786mxaco6r2 */
            id: string;
            /** @description Always `sandbox`. */
            object?: string;
            status: components["schemas"]["SandboxStatus"];
            /** @description The name it was created with. */
            name?: string;
            /** @description Its labels. */
            metadata?: {
                [key: string]: string;
            };
            on_timeout?: components["schemas"]["OnTimeout"];
            /** @description Seconds without activity after which it sleeps; absent where it does not. */
            idle_timeout_seconds?: number;
            /** @description Whether requests to it start it again. */
            auto_start?: boolean;
            stop_reason?: components["schemas"]["StopReason"];
            /** @description The account that owns it. */
            organization_id?: number | string;
            /** @description The machine it runs on. */
            node_id?: string;
            region?: string;
            template_id?: string;
            template_name?: string;
            /**
             * @description The URL of its agent, without a slash at the end.
             * @example https://7777-1762778786mxaco6r2.eu-1001.vms.hopx.dev
             */
            public_host?: string;
            /** @description The URL of its agent too; without a slash at the end. */
            direct_url?: string;
            /** @description Where its web applications are seen from a browser. */
            preview_url?: string;
            /**
             * @description Where a browser sees what listens on a port of the sandbox, with `{port}` in place of its number. Whoever knows
             *     the address may open it.
             * @example http://{port}-1762778786mxaco6r2.localhost:8080/
             */
            preview_url_template?: string;
            /**
             * @description Who may open what listens on its ports: whoever knows the address, or whoever has a link.
             * @enum {string}
             */
            preview_access?: "public" | "private";
            /**
             * @description The same for programs, by path, on a host that resolves everywhere.
             * @example http://127.0.0.1:8080/preview/1762778786mxaco6r2/{port}/
             */
            preview_path_template?: string;
            resources?: components["schemas"]["Resources"];
            /** @description Whether code in it reaches the internet. */
            internet_access?: boolean;
            egress?: components["schemas"]["EgressLists"];
            limits?: components["schemas"]["SandboxLimits"];
            mounts?: components["schemas"]["Mounts"];
            /** @description Its secrets, without their values. Absent if it was created without `secrets`. */
            secrets?: components["schemas"]["SecretFacts"][];
            /** @description Whether it counts as production. */
            live_mode?: boolean;
            isolation?: components["schemas"]["Isolation"];
            /** @description Its lifetime in seconds; `null` or absent where it has no deadline. */
            timeout_seconds?: number | null;
            /**
             * Format: date-time
             * @description Its deadline; `null` or absent where it has none. While it sleeps, it is deleted then; else `on_timeout` says what happens.
             */
            expires_at?: string | null;
            /** Format: date-time */
            created_at?: string;
            /** @description Why it broke down, where `status` is `error`; else why it could not be stopped at its deadline. */
            failure_reason?: string;
            /** @description The token for its agent. Create gives it; get and list need not. */
            auth_token?: string;
            /**
             * Format: date-time
             * @description When `auth_token` expires.
             */
            token_expires_at?: string;
            request_id?: string;
        };
        SandboxList: {
            /** @description Always `list`. */
            object?: string;
            /** @description The sandboxes; some servers send `null` for none. */
            data: components["schemas"]["Sandbox"][] | null;
            /** @description Whether there is another page. */
            has_more?: boolean;
            /** @description The `cursor` of the next page. */
            next_cursor?: string | null;
            /** @description The path of this list. */
            url?: string;
            request_id?: string;
        };
        /**
         * @description `waiting`: the code runs. `pending`: attempts are made until the receiver answers 2xx. `delivered`: it did.
         *     `failed`: given up, `error` says why.
         * @enum {string}
         */
        WebhookDeliveryStatus: "waiting" | "pending" | "delivered" | "failed";
        /** @description The report of one asynchronous execution's end, or an event that is sent to a webhook. */
        WebhookDelivery: {
            /** @description Sent as `X-HOPX-Delivery` with every attempt. */
            id: string;
            /** @description Always `webhook_delivery`. */
            object?: string;
            /** @description Empty for an event without a sandbox. */
            sandbox_id: string;
            /** @description Empty for an event without an execution. */
            execution_id: string;
            /** @description Without credentials and query, which may be secret. */
            callback_url: string;
            status: components["schemas"]["WebhookDeliveryStatus"];
            attempts: number;
            /**
             * Format: date-time
             * @description When the code was started.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When there was something to deliver.
             */
            queued_at?: string;
            /** Format: date-time */
            next_attempt_at?: string;
            /** Format: date-time */
            last_attempt_at?: string;
            /** @description What the receiver answered last. */
            response_status?: number;
            /** @description What was wrong with the last attempt. */
            error?: string;
            request_id?: string;
        };
        WebhookDeliveryList: {
            /** @description Always `list`. */
            object?: string;
            data: components["schemas"]["WebhookDelivery"][];
            /** @description Whether there is another page. */
            has_more?: boolean;
            /** @description The `cursor` of the next page. */
            next_cursor?: string;
            /** @description The path of this list. */
            url?: string;
            request_id?: string;
        };
        CreateApiKeyRequest: {
            /**
             * @description Letters, digits, dots, dashes and underscores, at most 64. No other key in use may have it, and `owner` is the server's own key.
             * @example ci
             */
            name: string;
            /** @description Sandboxes and programs that the key may have at a time. Without it, only the server's limit counts. */
            max_sandboxes?: number;
            /** @description When the key ends, counted from now. Without it, never. */
            expires_in_seconds?: number;
            /**
             * @description The PriorityClass of the Pods of its sandboxes, so that a ResourceQuota of that class limits the key. Only with the runtime `kubernetes`. A class that the cluster does not have, or whose name begins with `system-`, is refused.
             * @example cloud-sandbox-team-a
             */
            priority_class?: string;
        };
        ApiKey: {
            /** @example key_4f1c0a9be2d7 */
            id: string;
            /** @description Always `api_key`. */
            object?: string;
            name: string;
            /** @enum {string} */
            status: "active" | "expired" | "revoked";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at?: string;
            /** Format: date-time */
            revoked_at?: string;
            /**
             * Format: date-time
             * @description When the key was last used; after a restart, up to a minute earlier.
             */
            last_used_at?: string;
            /** @description Sandboxes and programs that it may have at a time. */
            max_sandboxes?: number;
            /** @description The PriorityClass of the Pods of its sandboxes. */
            priority_class?: string;
            /** @description Its sandboxes, stopped ones included. */
            sandboxes: number;
            /** @description Its programs that run, or wait for their turn. */
            programs: number;
            request_id?: string;
        };
        CreatedApiKey: components["schemas"]["ApiKey"] & {
            /** @description The key itself. No other answer has it. */
            key: string;
        };
        ApiKeyList: {
            /** @description Always `list`. */
            object?: string;
            data: components["schemas"]["ApiKey"][];
            /** @description The path of this list. */
            url?: string;
            request_id?: string;
        };
        /**
         * @description What is mounted in the sandbox, by its path there: `/workspace`, or a path below it, below `/home/sandbox`, or outside the
         *     system's directories, as `/data`. No path lies in another one. The mounts are there again when a stopped sandbox starts.
         * @example {
         *       "/data": {
         *         "volume": "cache"
         *       },
         *       "/repo": {
         *         "host": "/home/me/repo",
         *         "read_only": true
         *       }
         *     }
         */
        Mounts: {
            [key: string]: components["schemas"]["Mount"];
        };
        /**
         * @description A volume, or a directory of the server's machine. Which directories may be mounted is up to who runs the server; others
         *     are refused with 400 MOUNT_NOT_ALLOWED, and so are all that further API keys ask for.
         */
        Mount: {
            /** @description The volume's name or id. */
            volume?: string;
            /** @description The absolute path of a directory. No part of it may be a link. */
            host?: string;
            /** @description Whether the sandbox can only read it. Default: false. */
            read_only?: boolean;
            /**
             * @description Only with `host`. `copy`: the sandbox sees the directory and may write, and the directory stays as it is until changes are
             *     applied. What others change in the directory is seen in the sandbox too, unless the sandbox has written the file. Servers
             *     whose runtime cannot do this answer 400 MOUNT_NOT_ALLOWED. Default: `direct`.
             * @enum {string}
             */
            mode?: "direct" | "copy";
        };
        /**
         * @description `mode`: the content is the same, and the file became executable or is no longer.
         * @enum {string}
         */
        ChangeKind: "added" | "changed" | "removed" | "mode";
        /**
         * @description `other`: a device, socket or pipe.
         * @enum {string}
         */
        EntryType: "file" | "directory" | "link" | "other";
        Change: {
            /** @description The path in the sandbox. A byte of a name that is no UTF-8 is a lone surrogate, U+DC80 to U+DCFF, as in Python. */
            path: string;
            kind: components["schemas"]["ChangeKind"];
            type: components["schemas"]["EntryType"];
            /** @description Bytes of a file. */
            size?: number;
            /** @description Whether a file may be executed. */
            executable?: boolean;
            /**
             * @description SHA-256 of a file's content, or of a link's target, in hexadecimal. Absent for files above 256 MiB, for those beyond 1 GiB
             *     of content in one answer, and for those that could not be read; they cannot be applied.
             */
            digest?: string;
            /** @description What a link leads to. */
            target?: string;
            /** @description How many files and directories were in a directory that was removed, or replaced by something else. */
            entries?: number;
            /**
             * @description How many entries of the directory are left out, with all in them, because their paths have more than 4,096 bytes (below the
             *     mount, if there is one) or, without a mount, more than 256 levels. They cannot be applied. The directory itself may be as it
             *     was. Absent if there are none.
             */
            skipped?: number;
            /** @description Whether programs of the host may run it by themselves, such as `package.json`, `Makefile` and `.envrc`. Default: false. */
            runs?: boolean;
            /**
             * @description Whether it belongs to the version control, as all below `.git` and `.hg`, or removes or replaces a directory that has some in it. Applied
             *     only when named with `control: true`. Default: false.
             */
            version_control?: boolean;
        };
        ChangeList: {
            /** @description Always `list`. */
            object: string;
            data: components["schemas"]["Change"][];
            /** @description The path of the mount, `template`, or the id of the snapshot. */
            since?: string;
            /**
             * @description By what files were compared. `content`: all of them by content. `times`: those with the same type, size and time of the last
             *     change count as unchanged, and all others of equal size were compared by content.
             * @enum {string}
             */
            compared?: "content" | "times";
            request_id?: string;
        };
        Diff: {
            path: string;
            /** @description A unified diff. Empty if a side is not text, or is larger than 1 MiB, or if the sides differ in more than 20,000 lines. */
            diff: string;
            /**
             * @description Why the diff is empty. Absent if it is not left out.
             * @enum {string}
             */
            omitted?: "binary" | "too_large";
            request_id?: string;
        };
        ApplyRequest: {
            /** @description The path of the mount. Default: the only one. */
            since?: string;
            /**
             * @description The paths to apply, as `changes` names them; a directory that was added does not include what is in it. Default: all
             *     changes, but for version control.
             */
            paths?: components["schemas"]["AcceptedPath"][];
            /** @description Whether only to say what would happen. Default: false. */
            check?: boolean;
        };
        AcceptedPath: {
            path: string;
            /** @description The digest that was reviewed. Other content is a conflict. */
            digest?: string;
            /**
             * @description What was reviewed. Given, it binds the path to the whole change: `type`, `executable` and `digest` must be those of the review
             *     too, absent where they were absent there. What differs by now is a conflict. Default: only the digest is compared, if given.
             */
            kind?: components["schemas"]["ChangeKind"];
            type?: components["schemas"]["EntryType"];
            /** @description Whether the reviewed file could be executed. */
            executable?: boolean;
            /**
             * @description Whether a path of the version control may be written, or a directory be removed or replaced that has some in it. Default:
             *     false.
             */
            control?: boolean;
        };
        Applied: {
            path: string;
            /**
             * @description `applied`: the directory has it now, or had it already. `conflict`: it changed in the directory, or in the sandbox since the
             *     review. `refused`: it cannot be written, or must not be.
             * @enum {string}
             */
            status: "applied" | "conflict" | "refused";
            /** @description Why it was not applied. */
            reason?: string;
            /** @description What else is to be known of an applied path. */
            note?: string;
        };
        AppliedList: {
            /** @description Always `list`. */
            object: string;
            data: components["schemas"]["Applied"][];
            request_id?: string;
        };
        CreateVolumeRequest: {
            /** @description The volume's name. One that the account has already is 409 CONFLICT. */
            name: string;
            /**
             * @description Size of its file system in MiB. Writing more fails with "no space left on device".
             * @default 1024
             */
            size_mb?: number;
        };
        CreateSnapshotRequest: {
            /** @description A name of the caller's own. One that another snapshot of the API key has is 409 CONFLICT. */
            name?: string;
            metadata?: components["schemas"]["Labels"];
        };
        Snapshot: {
            /** @example snap_6f1d2a9c0b7e4d35 */
            id: string;
            /** @description Always `snapshot`. */
            object?: string;
            name?: string;
            metadata?: components["schemas"]["Labels"];
            /** @description The sandbox whose files it has. */
            sandbox_id?: string;
            template_name?: string;
            /** @description What it takes on the server's disk. */
            size_bytes?: number;
            /** Format: date-time */
            created_at?: string;
            /** @description Whether the sandbox stood still while its files were read. If not, files that changed meanwhile may be torn. */
            consistent?: boolean;
            /** @description What it keeps of a sandbox. */
            kept?: {
                files?: boolean;
                /** @description The environment variables of the sandbox. */
                environment?: boolean;
                /** @description The variables of interpreters. */
                variables?: boolean;
                processes?: boolean;
            };
            request_id?: string;
        };
        SnapshotList: {
            /** @description Always `list`. */
            object?: string;
            data: components["schemas"]["Snapshot"][];
            /** @description Why this server takes no snapshots, in a sentence. Absent if it does. */
            unavailable?: string;
            /** @description The path of this list. */
            url?: string;
            request_id?: string;
        };
        DeletedSnapshot: {
            id?: string;
            /** @description Always `snapshot`. */
            object?: string;
            deleted?: boolean;
            request_id?: string;
        };
        ForkRequest: {
            /**
             * @description How many sandboxes to make.
             * @default 1
             */
            count?: number;
            /** @description Their lifetime in seconds. Default: that of this sandbox. */
            timeout_seconds?: number;
        };
        ForkList: {
            /** @description Always `list`. */
            object?: string;
            data: components["schemas"]["Fork"][];
            request_id?: string;
        };
        /** @description One of the two. */
        Fork: {
            sandbox?: components["schemas"]["Sandbox"];
            error?: {
                code: string;
                message: string;
            };
        };
        RestoreRequest: {
            /** @description The id or name of the snapshot. */
            snapshot: string;
        };
        Volume: {
            /** @example vol_6f1d2a9c0b7e4d35 */
            id: string;
            /** @description Always `volume`. */
            object?: string;
            name: string;
            /** @description Size of its file system in MiB. */
            size_mb?: number;
            /** @description What it takes on the server's disk. */
            used_bytes?: number;
            /** Format: date-time */
            created_at?: string;
            /** @description The sandboxes that mount it, stopped ones included: their names, or else their ids. */
            sandboxes?: string[];
            request_id?: string;
        };
        VolumeList: {
            /** @description Always `list`. */
            object?: string;
            data: components["schemas"]["Volume"][];
            /** @description Why this server has no volumes, in a sentence that says how to get them. Absent if it has volumes. */
            unavailable?: string;
            /** @description The path of this list. */
            url?: string;
            request_id?: string;
        };
        DeletedVolume: {
            id: string;
            /** @description Always `volume`. */
            object?: string;
            deleted?: boolean;
            request_id?: string;
        };
        CreateSandboxRequest: {
            template_id?: components["schemas"]["TemplateReference"];
            /**
             * @description The template's name.
             * @example code-interpreter
             */
            template_name?: string;
            /** @description The id or name of a snapshot to begin with, in place of a template: its files, environment variables, template and limits. A snapshot that this server cannot start is 409 CONFLICT: one with changes to the rest of its sandbox's system, where machines are of another kind. */
            snapshot?: string;
            /**
             * @description Takes from the snapshot only files of `/workspace`, `/tmp` and the home directory, with which sandboxes of every runtime begin.
             * @default false
             */
            files_only?: boolean;
            /** @description Where to run it; a server with one region ignores it. */
            region?: string;
            /** @description Lifetime in seconds. `on_timeout` says what happens then. Without it, the server's own limit. */
            timeout_seconds?: number;
            /**
             * @description Whether code in it may reach the internet. Default: true, in the cloud; the local control plane's operator may
             *     have set another one.
             */
            internet_access?: boolean;
            egress?: components["schemas"]["EgressLists"];
            limits?: components["schemas"]["SandboxLimits"];
            mounts?: components["schemas"]["Mounts"];
            secrets?: components["schemas"]["Secrets"];
            /** @description Environment variables of every execution. */
            env_vars?: {
                [key: string]: string;
            };
            /**
             * @deprecated
             * @description Ignored; the template decides.
             */
            vcpu?: number;
            /**
             * @deprecated
             * @description Ignored; the template decides.
             */
            memory_mb?: number;
            /**
             * @deprecated
             * @description Ignored; the template decides.
             */
            disk_gb?: number;
            /** @description A name for people. Another sandbox's is 409 CONFLICT, unless `get_or_create` is true. */
            name?: string;
            /** @description Gives the sandbox of this `name` where there is one (200 instead of 201): running, so it is resumed or started when need be, and with `timeout_seconds` at least; one that has failed is replaced. Its variables, labels and mounts stay as they are. One of another template is 409 CONFLICT. */
            get_or_create?: boolean;
            metadata?: components["schemas"]["Labels"];
            /** @default delete */
            on_timeout?: components["schemas"]["OnTimeout"];
            /**
             * @description Seconds without activity after which a running sandbox sleeps: it is paused where `on_timeout` is `pause`, else stopped.
             *     Activity is a request to the sandbox, from its first byte to its end, a stream, terminal or tunnel that is open, and a
             *     background execution that runs. Health checks, metrics, the control plane's own operations and programs that code has left
             *     behind are none, nor is an open WebSocket of a preview. With 0, it does not sleep before its deadline.
             * @default 0
             */
            idle_timeout_seconds?: number;
            /**
             * @description Whether a request starts it while it is stopped, and resumes it while it is paused: a call of its agent with a valid
             *     token, or an HTTP request of a preview, but no WebSocket of a preview. The request waits for that, 30 s at most;
             *     beyond, and for more than 64 at a time, it is 503 with `Retry-After`.
             * @default false
             */
            auto_start?: boolean;
            /** @description The weakest isolation accepted. Where the server has none as strong, the create is refused with 400 ISOLATION_UNAVAILABLE. */
            min_isolation?: components["schemas"]["Isolation"];
        };
        /** @description Labels of the caller's own. */
        Labels: {
            [key: string]: string;
        };
        UpdateSandboxRequest: {
            metadata?: components["schemas"]["Labels"];
            on_timeout?: components["schemas"]["OnTimeout"];
            /** @description As in the create; 0 for none. */
            idle_timeout_seconds?: number;
            /**
             * @description Whether a request starts it while it is stopped, and resumes it while it is paused: a call of its agent with a valid
             *     token, or an HTTP request of a preview, but no WebSocket of a preview. The request waits for that, 30 s at most;
             *     beyond, and for more than 64 at a time, it is 503 with `Retry-After`.
             */
            auto_start?: boolean;
        };
        ProgramRequest: {
            /** @description The program's text. */
            code: string;
            /**
             * @description `python` (also `python3`), `javascript` (`js`, `node`, `nodejs`), `bash` (`sh`, `shell`) or `go`. Another name is
             *     400 INVALID_REQUEST; one that the template lacks is 400 LANGUAGE_NOT_AVAILABLE.
             * @default python
             * @example python
             * @example javascript
             * @example bash
             * @example go
             */
            language?: string;
            /**
             * @description Seconds the program may run, then it is killed.
             * @default 30
             */
            timeout?: number;
            /** @description The name of the file of a Python, JavaScript or bash program, in its working directory: what the program, its error messages and its children know it by. The code is written there unless the file exists. */
            filename?: string;
            /** @description Where the program runs. When absent or exactly `/workspace`, in the directory that the template's WORKDIR names, `/workspace` if it has none; a relative path starts there too. */
            workdir?: string;
            /** @description The program's environment variables. */
            env?: {
                [key: string]: string;
            };
            template_id?: components["schemas"]["TemplateReference"];
            /** @description The template's name; `code-interpreter` when neither this nor `template_id` is given. */
            template_name?: string;
            /** @description As for a sandbox. */
            internet_access?: boolean;
            egress?: components["schemas"]["EgressLists"];
            limits?: components["schemas"]["SandboxLimits"];
            secrets?: components["schemas"]["Secrets"];
            /** @description The weakest isolation accepted. Where the server has none as strong, it is 400 ISOLATION_UNAVAILABLE. */
            min_isolation?: components["schemas"]["Isolation"];
            /**
             * @description `false` leaves `rich_outputs` empty.
             * @default true
             */
            capture_rich?: boolean;
            /**
             * @description Whether to answer with a stream.
             * @default false
             */
            stream?: boolean;
        };
        ProgramResult: {
            /** @description The id of the sandbox that the program had to itself; it is gone. */
            id: string;
            isolation: components["schemas"]["Isolation"];
            /** @description The secrets that it had. Absent if the request had no `secrets`. */
            secrets?: components["schemas"]["SecretFacts"][];
            /** @description `exit_code` is 0. */
            success: boolean;
            /** @description UTF-8; bytes that are not become U+FFFD. At most 1 MiB: head and tail. */
            stdout: string;
            /** @description UTF-8; bytes that are not become U+FFFD. At most 1 MiB: head and tail. */
            stderr: string;
            exit_code: number;
            /** @description Seconds from start to end. */
            execution_time: number;
            /**
             * Format: date-time
             * @description When it ended.
             */
            timestamp?: string;
            /** @description The language's main name. */
            language?: string;
            /** @description The program finds it as `CLOUD_SANDBOX_EXECUTION_ID`. */
            execution_id?: string;
            /**
             * @description `exit`: it ended by itself. `timeout`: over its limit, exit code 124. `out_of_memory`: over the memory of its
             *     template, exit code 137. `signal`: a signal ended it, exit code 128 + signal. `interrupted`: code in it
             *     killed what ran it, exit code 137.
             * @enum {string}
             */
            termination_reason?: "exit" | "timeout" | "out_of_memory" | "killed" | "signal" | "interrupted";
            /** @description Bytes written to stdout in all. */
            stdout_bytes?: number;
            /** @description Bytes written to stderr in all. */
            stderr_bytes?: number;
            /** @description `stdout` holds head and tail only; a line between them says how much is missing. */
            stdout_truncated?: boolean;
            /** @description `stderr` holds head and tail only; a line between them says how much is missing. */
            stderr_truncated?: boolean;
            /** @description The exception that ended Python or JavaScript code. Each text has at most 65,536 characters, the rest is cut off. */
            exception?: {
                /**
                 * @description The name of its class.
                 * @example ValueError
                 */
                name: string;
                /** @description Its message. */
                value: string;
                /** @description What stderr says of it. */
                traceback: string;
            };
            /** @description The last expression's value as text. */
            result?: string;
            /** @description The first plot. */
            png?: string;
            /** @description The first displayed HTML. */
            html?: string;
            /** @description The first displayed SVG. */
            svg?: string;
            /** @description The first displayed Markdown. */
            markdown?: string;
            /** @description The first displayed LaTeX. */
            latex?: string;
            /** @description The first displayed JSON. */
            json?: {
                [key: string]: unknown;
            } | unknown[];
            /** @description Everything displayed, in order. */
            rich_outputs?: components["schemas"]["DisplayedValue"][];
            /** @description Displayed values left out: beyond 64 of them, or 8 MiB. */
            rich_outputs_dropped?: number;
        };
        /** @description One displayed value. */
        DisplayedValue: {
            /**
             * @description A MIME type.
             * @example image/png
             * @example text/html
             * @example application/json
             */
            type: string;
            /**
             * @description How `data` is written.
             * @example base64
             * @example html
             * @example json
             */
            format?: string;
            /** @description Text, base64, or a JSON value, as `format` says. */
            data?: unknown;
            /** @description Where the value was a file in the sandbox. */
            path?: string;
            metadata?: {
                source?: string;
                filename?: string;
                /** @description Bytes. */
                size?: number;
            } & {
                [key: string]: unknown;
            };
        };
        /**
         * @description What a sandbox may use, where that is not what its template says. A server that holds to them says so in the
         *     sandbox; more than it has is refused with 400 LIMITS_UNAVAILABLE.
         */
        SandboxLimits: {
            /** @description Memory in MiB. */
            memory_mb?: number;
            /** @description Processors; parts of one too. */
            vcpu?: number;
        };
        /**
         * @description Credentials that code in the sandbox uses without having them, by name. Inside, the environment variable of that name has a
         *     placeholder. The egress proxy ends TLS for the hosts of a secret alone, checks the real server's certificate, and replaces
         *     the placeholder in the headers `authorization` (also within Basic) and `x-api-key`. A placeholder anywhere else in the head of
         *     a request, or for another host whose TLS is ended, is refused with 403. With `{}` the sandbox has no secret yet and can
         *     be given some later. Without `internet_access` it is refused.
         * @example {
         *       "GITHUB_TOKEN": {
         *         "value": "ghp_0123456789abcdef",
         *         "hosts": [
         *           "api.github.com"
         *         ]
         *       }
         *     }
         */
        Secrets: {
            [key: string]: components["schemas"]["Secret"];
        };
        /**
         * @description A credential with `value` and `hosts`, or `from`, which names a stored one. What cannot work by replacing is refused
         *     with 400 SECRET_UNUSABLE: credentials that sign requests, as those of AWS.
         */
        Secret: {
            /**
             * @description The name of a stored secret (`/v1/secrets`), whose rules it gets, and whose value it always has. Beside it are
             *     only `hosts`, to name some of the stored one's, and `env`.
             */
            from?: string;
            /** @description The credential. Printable ASCII characters, without a space at either end. No answer, log or record has it. */
            value?: string;
            /**
             * @description Where it may be sent, over TLS alone: a name (`api.github.com`, port 443), a name and port (`gitlab.example.com:8443`),
             *     or all names below one that has two labels at least (`*.example.com`). Refused: addresses, single labels, names below
             *     one that strangers share (`*.amazonaws.com`, `*.github.io`), and hosts that the `egress` of the sandbox refuses.
             */
            hosts?: string[];
            /**
             * @description Headers to set in every request to the hosts, whatever the program sends, with `{value}` in place of the value. Two
             *     secrets that set one header for one host, method and path are 400 INVALID_REQUEST.
             * @example {
             *       "private-token": "{value}"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /** @description Sets `authorization` for Basic with this user and the value as password. */
            basic?: string;
            /** @description The methods of requests that may have it, in capitals. Default: all. */
            methods?: string[];
            /**
             * @description The paths of requests that may have it: `/v1` is that path alone, `/v1/*` all that begins with `/v1/`. Requests whose
             *     path could mean another one (`..`, `//`, `%2f`, `;`) are then refused. Default: all.
             */
            paths?: string[];
            /**
             * @description Whether the environment has a variable with the placeholder.
             * @default true
             */
            env?: boolean;
            /**
             * @description The text that stands for the value inside, for programs that check its form. Default: `csb_secret_` and 32 random digits
             *     and letters.
             */
            placeholder?: string;
        };
        /**
         * @description Stored secrets that the sandboxes of a template have, by variable, unless they have no internet access. Each is that of the API
         *     key which creates the sandbox; without one, the create is 404 SECRET_NOT_FOUND. Secrets of the create with the same name win.
         */
        NamedSecrets: {
            [key: string]: {
                /** @description The name of the stored secret. */
                from: string;
                /** @description Some of its hosts. Default: all. */
                hosts?: string[];
            };
        };
        /** @description A secret without its value. */
        SecretFacts: {
            name: string;
            hosts: string[];
            /** @description The names of the headers that it sets. */
            headers?: string[];
            methods?: string[];
            paths?: string[];
            env?: boolean;
            /** @description The name of the stored secret whose value it has. */
            from?: string;
            placeholder: string;
            state: components["schemas"]["SecretState"];
        };
        /**
         * @description `lost`: its value went with the server that had it, or its stored secret was deleted. Set it again.
         * @enum {string}
         */
        SecretState: "ready" | "lost";
        SecretList: {
            /** @description Always `list`. */
            object?: string;
            data: components["schemas"]["SecretFacts"][];
            /** @description The path of this list. */
            url?: string;
            request_id?: string;
        };
        SetSecret: components["schemas"]["SecretFacts"] & {
            request_id?: string;
        };
        DeletedSecret: {
            name: string;
            /** @description Always `secret`. */
            object?: string;
            deleted?: boolean;
            request_id?: string;
        };
        /** @description A stored secret without its value. */
        StoredSecret: {
            name: string;
            hosts: string[];
            /** @description The names of the headers that it sets. */
            headers?: string[];
            methods?: string[];
            paths?: string[];
            state: components["schemas"]["SecretState"];
            /** Format: date-time */
            created_at?: string;
            /**
             * Format: date-time
             * @description When its value was last set.
             */
            updated_at?: string;
            request_id?: string;
        };
        StoredSecretList: {
            /** @description Always `list`. */
            object?: string;
            data: components["schemas"]["StoredSecret"][];
            /** @description The path of this list. */
            url?: string;
            request_id?: string;
        };
        /**
         * @description What a sandbox with `internet_access` may reach. An entry is a name (`pypi.org`), all names below one
         *     (`*.npmjs.org`), an address, a range (`203.0.113.0/24`) or `*`; with `:port`, it is for that port only. Without
         *     `internet_access` it is refused.
         *
         *     For hosts that have a secret, an entry may also limit requests, by methods, a path, or both: `GET,HEAD api.github.com/repos/*`. A path
         *     that ends in `*` is all that begins so. While a host without a secret has such an entry, connections to it are refused, and so are
         *     requests whose path could mean another one (`..`, `//`, encoded slashes). In `deny`, such entries need an `allow` list or `ask`.
         */
        EgressLists: {
            /** @description With this list, everything that is not on it is refused. */
            allow?: string[];
            /** @description What is refused; it wins over `allow`. */
            deny?: string[];
            /**
             * @description A connection to what neither list names is held until `POST /v1/sandboxes/{id}/egress/decisions` answers, 60 s at most; then it is
             *     refused. At most 32 destinations of a sandbox are held. An event `egress.held` tells each. Programs without a sandbox cannot have it.
             */
            ask?: boolean;
        };
        SandboxLinkRequest: {
            /** @enum {string} */
            kind: "port" | "download" | "upload";
            /** @description With `port`. */
            port?: number;
            /** @description With `download` and `upload`: the file, as of the agent's `/files/download` and `/files/upload`. */
            path?: string;
            /** @default 3600 */
            expires_in_seconds?: number;
        };
        SandboxLink: {
            /** @description The address, by host name where the caller's server has such for its ports. */
            url: string;
            /** @description With `port`: the address by path. */
            path_url?: string;
            /** Format: date-time */
            expires_at: string;
            request_id?: string;
        };
        EgressDecision: {
            /** @description As in the event. */
            host: string;
            port: number;
            /** @enum {string} */
            decision: "allow" | "deny";
            /** @description Whether the destination is put on the list `allow` or `deny` of the sandbox. Otherwise the answer is for those who wait now. */
            always?: boolean;
        };
        SetEgress: components["schemas"]["EgressLists"] & {
            request_id?: string;
        };
        /** @description A connection that code in a sandbox asked for. */
        EgressEntry: {
            /** Format: date-time */
            time: string;
            /**
             * @description How it was asked for: an HTTP tunnel, a plain HTTP request, or SOCKS5. `https`: a request within a tunnel to a host that has a
             *     secret.
             * @enum {string}
             */
            protocol: "connect" | "http" | "socks5" | "https";
            /** @description The name or address asked for. */
            host: string;
            port: number;
            /** @description The address connected to. */
            address?: string;
            /** @description With `https`: the request's method. */
            method?: string;
            /** @description With `https`: the request's path, without its query. */
            path?: string;
            /** @description With `https`: the status of the server's answer. */
            status?: number;
            /** @description With `https`: the names of the secrets that were put in. */
            secrets?: string[];
            /**
             * @description `pending` while it is being made; `refused` by the rules; `failed` where there was no address or no answer.
             * @enum {string}
             */
            decision: "pending" | "allowed" | "refused" | "failed";
            /** @description Why it was refused, failed, or closed by new rules. */
            reason?: string;
            /** @description What decided: `allow` or `deny` with the entry of the list, `allow` alone if no entry names it, `ask`, `internet_access`, or the operator's `--egress-deny`. Missing where everything is allowed. */
            rule?: string;
            /** @description Whether it goes on. */
            open: boolean;
            /** @description Bytes that left the sandbox. */
            bytes_sent: number;
            /** @description Bytes that came in. */
            bytes_received: number;
            /** @description How long it took, or has taken so far, in milliseconds. */
            duration_ms: number;
        };
        EgressLog: {
            /** @description Always `list`. */
            object?: string;
            /**
             * @description The last connections, newest first, and the requests to hosts that have a secret, of which method and path are kept. Of all
             *     others none is, and of none headers, queries or credentials.
             */
            data: components["schemas"]["EgressEntry"][];
            /** @description Whether there is another page. */
            has_more?: boolean;
            /** @description The `cursor` of the next page. */
            next_cursor?: string;
            /** @description All connections of the sandbox, also those that are not kept. */
            totals: {
                allowed: number;
                refused: number;
                failed: number;
                /** @description Far beyond the number of connections at a time: closed unread. The first ones beyond it are refused, and count as failed. */
                dropped: number;
                bytes_sent: number;
                bytes_received: number;
            };
            /** @description The path of this list. */
            url?: string;
            request_id?: string;
        };
        /** @description A template's id, as text or as a number. The object form is the published document's; it is accepted too. */
        TemplateReference: string | number | {
            value: string;
        };
        /** @enum {string} */
        EventType: "sandbox.created" | "sandbox.paused" | "sandbox.resumed" | "sandbox.stopped" | "sandbox.started" | "sandbox.expired" | "sandbox.failed" | "sandbox.deleted" | "sandbox.metrics" | "execution.started" | "execution.ended" | "egress.refused" | "egress.held" | "build.started" | "build.ended" | "key.revoked";
        /**
         * @description Something that happened. `sandbox.started` is a stopped sandbox that runs again; one that was created runs from the start. An
         *     execution is code or a command, waited for, streamed, in the background or without a sandbox. `egress.refused` is told once a minute
         *     for each host and port, and 60 times a minute for a sandbox; the egress log has all.
         */
        Event: {
            /** @description For `since`. Missing in `sandbox.metrics`, which are not kept. */
            id: string;
            type: components["schemas"]["EventType"];
            /** Format: date-time */
            at: string;
            /** @description Missing in events of builds and keys, and of programs without a sandbox. */
            sandbox_id?: string;
            /** @description The sandbox's name, the template's, or the key's. */
            name?: string;
            /** @description With `sandbox.created`: its template. */
            template?: string;
            /** @description Why it failed, was refused, or is held. */
            reason?: string;
            /** @description The same in `execution.started` and `execution.ended`. */
            execution_id?: string;
            /**
             * @description With executions: `program` has no sandbox.
             * @enum {string}
             */
            kind?: "code" | "command" | "background" | "async" | "program";
            /**
             * @description With `execution.ended`: of `background` and `async`, whether the exit code was 0; of all others `completed` is an answer, which has
             *     the exit code. `refused` never began, the caller of `cut` left or its answer broke off, and of `unknown` the server ended
             *     meanwhile. With `build.ended`: `completed` or `failed`.
             * @enum {string}
             */
            outcome?: "completed" | "failed" | "timeout" | "refused" | "cut" | "unknown";
            /** @description With `execution.ended`, where the server learns it. */
            exit_code?: number;
            /** @description With `execution.ended`. */
            duration_ms?: number;
            /** @description With egress: the name or address asked for. */
            host?: string;
            /** @description With egress. */
            port?: number;
            /** @description With builds. */
            build_id?: string;
            /** @description With builds. */
            template_id?: string;
            /** @description With `key.revoked`. */
            key_id?: string;
            /** @description With `sandbox.metrics`: a snapshot of the agent, once a second. */
            metrics?: {
                [key: string]: unknown;
            };
        };
        WebhookRequest: {
            /** @description Where events are sent: http or https, at a public address unless the server allows others. */
            url: string;
            /** @description With which requests are signed. */
            secret?: string;
            /** @description Only events of these types. Default: all but `sandbox.metrics`, which are not sent. */
            types?: components["schemas"]["EventType"][];
            /** @description Only events of this sandbox. */
            sandbox_id?: string;
        };
        Webhook: {
            id: string;
            /** @description Always `webhook`. */
            object?: string;
            /** @description Without credentials and query, which may be secret. */
            url: string;
            types?: components["schemas"]["EventType"][];
            sandbox_id?: string;
            /** @description Whether requests are signed. */
            signed: boolean;
            /** Format: date-time */
            created_at: string;
            request_id?: string;
        };
        SetTimeoutRequest: {
            /** @description Seconds from now until the deadline. */
            timeout_seconds: number;
        };
        SandboxTimeout: {
            id?: string;
            /** @description The new lifetime in seconds, from now. */
            timeout_seconds?: number;
            /**
             * Format: date-time
             * @description The new deadline.
             */
            expires_at?: string;
            request_id?: string;
        };
        SandboxState: {
            id?: string;
            status?: components["schemas"]["SandboxStatus"];
            request_id?: string;
        };
        SandboxToken: {
            /** @description The token for the sandbox's agent. */
            auth_token: string;
            /** Format: date-time */
            token_expires_at: string;
            /** @description The URL of the sandbox's agent. */
            public_host?: string;
            request_id?: string;
        };
        DeletedSandbox: {
            id?: string;
            /** @description Always `sandbox`. */
            object?: string;
            /** @description Always `deleted`. */
            status?: string;
            deleted?: boolean;
            request_id?: string;
        };
        /**
         * @description `pending`, `building`, `publishing` (built, being made available), `active` (can be used), `failed` or `error`, `archived`.
         * @enum {string}
         */
        TemplateStatus: "pending" | "building" | "publishing" | "active" | "failed" | "error" | "archived";
        TemplateResources: {
            /** @description Processors. */
            vcpu?: number;
            /** @description Memory in MiB. */
            memory_mb?: number;
            /** @description Disk in GiB. */
            disk_gb?: number;
        };
        TemplateListItem: {
            /**
             * @description A number, as text.
             * @example 20
             */
            id: string;
            /** @description Always `template`. */
            object?: string;
            /** @example code-interpreter */
            name: string;
            display_name?: string;
            description?: string;
            category?: string;
            language?: string;
            status?: components["schemas"]["TemplateStatus"];
            /** @description Whether sandboxes can be made from it. */
            is_active?: boolean;
            /** @description Whether every account sees it. */
            is_public?: boolean;
            default_resources?: components["schemas"]["TemplateResources"];
            /** @description The build it came from. */
            build_id?: string;
            /** @description The account that owns it. */
            organization_id?: string;
            /** Format: date-time */
            created_at?: string;
            /** Format: date-time */
            updated_at?: string;
        };
        Template: components["schemas"]["TemplateListItem"] & {
            icon?: string;
            /** @description What sandboxes made from it can do. */
            features?: string[];
            tags?: string[];
            min_resources?: components["schemas"]["TemplateResources"];
            max_resources?: components["schemas"]["TemplateResources"];
            popularity_score?: number;
            docs_url?: string;
            /** @description How it was built. The published document calls it a list of bytes. */
            fluent_api_config?: components["schemas"]["TemplateBuildConfig"] | number[];
            /** @description What is not as the image that it was built from says: sentences for people. */
            differences?: string[];
            secrets?: components["schemas"]["NamedSecrets"];
            request_id?: string;
        };
        TemplateList: {
            /** @description Always `list`. */
            object?: string;
            /** @description The templates; some servers send `null` for none. */
            data: components["schemas"]["TemplateListItem"][] | null;
            /** @description Whether there is another page. */
            has_more?: boolean;
            /** @description The `cursor` of the next page. */
            next_cursor?: string | null;
            /** @description The path of this list. */
            url?: string;
            request_id?: string;
        };
        DeletedTemplate: {
            id?: string;
            /** @description Always `template`. */
            object?: string;
            deleted?: boolean;
            request_id?: string;
        };
        TemplateBuildConfig: {
            /**
             * @description The image to begin with.
             * @example ubuntu:22.04
             */
            from_image?: string;
            /** @description What to do to the image, in this order. */
            steps?: components["schemas"]["TemplateStep"][];
            /** @description A command that every sandbox of the template starts with. */
            startCmd?: string | null;
            /** @description How to tell that `startCmd` is ready. */
            readyCmd?: components["schemas"]["ReadyCheck"] | null;
        };
        TemplateBuildRequest: components["schemas"]["TemplateBuildConfig"] & {
            /** @description The template's name. */
            name: string;
            /** @description Processors of its sandboxes. */
            cpu: number;
            /** @description Memory of its sandboxes in megabytes. */
            memory: number;
            /** @description Disk of its sandboxes in gigabytes. */
            diskGB: number;
            /** @description Run every step again. */
            skipCache?: boolean | null;
            /** @description Replace the template of this name, which must exist. */
            update?: boolean | null;
            registry_credentials?: components["schemas"]["RegistryCredentials"] | null;
            /** @description The agent to put in; without it, the newest. */
            agent_version?: string | null;
            secrets?: components["schemas"]["NamedSecrets"];
        };
        /**
         * @description One step, in any form that clients send; the type in upper or lower case.
         *
         *     - COPY: `args: [sources separated by commas, destination]` and `filesHash`; optional `owner`, `permissions`
         *     - RUN, CMD: `args: [command]`
         *     - ENV: `args: [key, value]`, `args: ["KEY=value"]`, or `key` and `value`
         *     - WORKDIR: `args: [path]`, or `path`: where later steps, the start command and the programs of sandboxes start. `/workspace` without one
         *     - USER: `args: [name]`: a user that the image has or an earlier step made. A server whose sandboxes have one user takes it for that one's name
         */
        TemplateStep: {
            /** @enum {string} */
            type: "COPY" | "RUN" | "ENV" | "WORKDIR" | "USER" | "CMD" | "copy" | "run" | "env" | "workdir" | "user" | "cmd";
            args?: string[] | null;
            key?: string | null;
            value?: string | null;
            path?: string | null;
            /** @description The hash that the files were uploaded under. */
            filesHash?: string | null;
            /**
             * @description User and group of the files.
             * @example app:app
             */
            owner?: string | null;
            /**
             * @description Octal mode of the files.
             * @example 0755
             */
            permissions?: string | null;
            /** @description Run this step again. */
            skipCache?: boolean | null;
        };
        /** @description Ready when the port is open, the URL answers, the file exists, the process runs, or the command exits 0. */
        ReadyCheck: {
            /** @enum {string} */
            type: "port" | "url" | "file" | "process" | "command";
            port?: number | null;
            url?: string | null;
            path?: string | null;
            /** @description The process's name: of its program's file, with or without a version (`python` finds `python3.11`), or of a script. */
            name?: string | null;
            /** @description The process's name too. */
            processName?: string | null;
            command?: string | null;
            /** @description How long to try, in milliseconds. */
            timeout?: number | null;
            /** @description Time between tries, in milliseconds. */
            interval?: number | null;
        };
        /** @description How to sign in where `from_image` is kept. */
        RegistryCredentials: {
            /** @enum {string} */
            type?: "basic" | "github" | "gitlab" | "ecr" | "gcr";
            username?: string;
            /** Format: password */
            password?: string;
            /** Format: password */
            token?: string;
        };
        TemplateBuild: {
            build_id: string;
            /** @description The template's id; often the same as the build's. */
            template_id: string;
            status?: components["schemas"]["BuildState"];
            logs_url?: string;
            request_id?: string;
        };
        /**
         * @description `pending`, `building`, `publishing`; ends as `success`, `active` or `failed`.
         * @enum {string}
         */
        BuildState: "pending" | "building" | "publishing" | "success" | "active" | "failed";
        TemplateBuildStatus: {
            build_id: string;
            template_id?: string;
            status: components["schemas"]["BuildState"];
            /** @description Per cent. */
            progress?: number;
            current_step?: string;
            /** Format: date-time */
            started_at?: string;
            /** Format: date-time */
            completed_at?: string;
            /**
             * Format: date-time
             * @description Some clients break on it; best left out.
             */
            estimated_completion?: string;
            /** @description Why it failed. */
            error_message?: string;
            /** @description How long it took, in milliseconds. */
            build_duration_ms?: number;
            request_id?: string;
        };
        TemplateBuildLogs: {
            /** @description The text since the offset asked for. */
            logs: string;
            /** @description The offset to ask for next. */
            offset: number;
            status?: components["schemas"]["BuildState"];
            /** @description Whether the build has ended and this is the rest. */
            complete?: boolean;
            request_id?: string;
        };
        TemplateBuildLogEvent: {
            /** @example info */
            level?: string;
            message?: string;
            /** Format: date-time */
            timestamp?: string;
        };
        UploadLinkRequest: {
            /** @description A name for the files that changes when they do. */
            files_hash: string;
            /** @description Size of the gzipped tar in bytes. */
            content_length: number;
        };
        UploadLink: {
            /** @description Whether the server has the files already. */
            present: boolean;
            /**
             * Format: uri
             * @description Where to PUT them.
             */
            upload_url?: string;
            /**
             * Format: date-time
             * @description Until when.
             */
            expires_at?: string;
            files_hash?: string;
            request_id?: string;
        };
        UploadedFiles: {
            files_hash?: string;
            /** @description Size of what was received, in bytes. */
            size?: number;
            request_id?: string;
        };
    };
    responses: {
        /**
         * @description Something in the request is wrong; the message names it. INVALID_REQUEST, MISSING_PARAMETER, INVALID_JSON,
         *     ISOLATION_UNAVAILABLE, LIMITS_UNAVAILABLE, VOLUMES_UNAVAILABLE, TEMPLATES_UNAVAILABLE, MOUNT_NOT_ALLOWED or
         *     INTERNET_ACCESS_UNAVAILABLE.
         */
        BadRequest: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description There is no key (AUTHENTICATION_REQUIRED), it is not valid (INVALID_API_KEY; an upload's grant, INVALID_TOKEN), it was revoked (API_KEY_REVOKED), or it has expired (API_KEY_EXPIRED). */
        Unauthorized: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The upload link has expired. TOKEN_EXPIRED. */
        ExpiredLink: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The account has no credit left. PAYMENT_REQUIRED. */
        PaymentRequired: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The key may not do this, or the server does not answer to the name in `Host`. FORBIDDEN. */
        Forbidden: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description There is no such thing. SANDBOX_NOT_FOUND, TEMPLATE_NOT_FOUND, BUILD_NOT_FOUND, VOLUME_NOT_FOUND, SECRET_NOT_FOUND, API_KEY_NOT_FOUND, WEBHOOK_NOT_FOUND or EVENTS_GONE. */
        NotFound: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The path takes other methods, named in `Allow`. METHOD_NOT_ALLOWED. */
        MethodNotAllowed: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The request did not arrive in time. INVALID_REQUEST. */
        RequestTimeout: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The body, or the answer, is larger than the server takes. PAYLOAD_TOO_LARGE. */
        ContentTooLarge: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description Address and headers are larger than the server takes, together 16 KiB. PAYLOAD_TOO_LARGE. */
        HeadersTooLarge: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description Its state does not allow this now, or the name or key is in use. CONFLICT, SANDBOX_CREATING, SANDBOX_PAUSED,
         *     SANDBOX_STOPPED or VOLUME_IN_USE. EXECUTION_INTERRUPTED, when a program was ended with its sandbox's agent.
         */
        Conflict: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description Its deadline has passed (SANDBOX_EXPIRED), or it broke down (SANDBOX_FAILED). */
        Gone: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description Too many requests (RATE_LIMIT_EXCEEDED), or more sandboxes than allowed (RESOURCE_LIMIT_ERROR). */
        TooManyRequests: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The control plane failed. INTERNAL_ERROR. */
        InternalError: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /**
         * @description The server cannot keep what was asked for: its data directory is full or cannot be written to. Nothing was changed;
         *     call again once there is room. STORAGE_FULL.
         */
        InsufficientStorage: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description Nothing can run a sandbox right now. RUNTIME_UNAVAILABLE or SERVICE_UNAVAILABLE. */
        Unavailable: {
            headers: {
                "X-Request-ID": components["headers"]["X-Request-ID"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
    };
    parameters: {
        /**
         * @description What to compare with. A path is that of a mounted copy; `template` is the sandbox's template; all else is the id or name of a
         *     snapshot that was taken of this sandbox: one of another sandbox is 409 CONFLICT, and an unknown one 404 SNAPSHOT_NOT_FOUND.
         *     Default: the mounted copy if the sandbox has just one, `template` if it has none; several are 400 INVALID_REQUEST.
         */
        Since: string;
        /** @description The sandbox's id. */
        SandboxId: string;
        /** @description The build's id; the id of its template does too. */
        BuildId: string;
        /** @description The delivery's id. */
        WebhookDeliveryId: string;
        /** @description The `next_cursor` of the page before. */
        Cursor: string;
    };
    requestBodies: never;
    headers: {
        /** @description The request's id, for logs and support; a caller's own is echoed. */
        "X-Request-ID": string;
        /** @description Seconds to wait before the next try. */
        "Retry-After": number;
        /** @description Requests allowed per window. */
        "X-RateLimit-Limit": number;
        /** @description Requests left in this window. */
        "X-RateLimit-Remaining": number;
        /** @description When the window ends, in Unix seconds. */
        "X-RateLimit-Reset": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It works. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    getServerMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The measurements. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listSandboxes: {
        parameters: {
            query?: {
                /** @description How many to return at most; -1 for all. A server may return fewer than asked for; the cloud gives at most 100. */
                limit?: number;
                /** @description Only sandboxes in this state. */
                status?: components["schemas"]["SandboxStatus"];
                /** @description Only sandboxes of this region. */
                region?: string;
                /** @description Only the sandbox of this name. */
                name?: string;
                /** @description Only sandboxes with all of these labels, written as a query is, such as `owner=me&stage=test`. */
                metadata?: string;
                /** @description The `next_cursor` of the page before. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sandboxes. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    createSandbox: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating a create with the same key gives the first one's sandbox instead of a second one. A key used before with another body is 409 CONFLICT; one whose sandbox has ended or failed counts as new. A server that lacks this ignores it. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSandboxRequest"];
            };
        };
        responses: {
            /** @description With `get_or_create`, the sandbox of that name, which there was already, with a token. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sandbox"];
                };
            };
            /** @description The sandbox, with the token for its agent. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sandbox"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    getSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sandbox as it is now. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sandbox"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    deleteSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sandbox is gone. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedSandbox"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    updateSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSandboxRequest"];
            };
        };
        responses: {
            /** @description The sandbox as it is then. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sandbox"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    pauseSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sandbox's new state. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxState"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    resumeSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sandbox's new state. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxState"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    startSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sandbox's new state. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxState"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    stopSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sandbox's new state. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxState"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    setSandboxTimeout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetTimeoutRequest"];
            };
        };
        responses: {
            /** @description The new deadline. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxTimeout"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    refreshSandboxToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token and when it expires. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxToken"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    streamSandboxMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream, until either side ends it or the sandbox is gone, stopped or broken down. Comments while it is paused. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listSandboxEgress: {
        parameters: {
            query?: {
                /** @description How many to return at most. */
                limit?: number;
                /** @description The `next_cursor` of the page before. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of connections, and the totals. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EgressLog"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    setSandboxEgress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EgressLists"];
            };
        };
        responses: {
            /** @description The lists. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetEgress"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    decideSandboxEgress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EgressDecision"];
            };
        };
        responses: {
            /** @description The decision. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EgressDecision"] & {
                        request_id?: string;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    createSandboxLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SandboxLinkRequest"];
            };
        };
        responses: {
            /** @description The link. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxLink"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    revokeSandboxLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description They are revoked. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The sandbox's id. */
                        id?: string;
                        request_id?: string;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    listSandboxSecrets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secrets, in the order in which they were set. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    setSandboxSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
                /** @description The secret's name. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Secret"];
            };
        };
        responses: {
            /** @description The secret. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    deleteSandboxSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
                /** @description The secret's name. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sandbox has no such secret any more. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /**
                 * @description What to compare with. A path is that of a mounted copy; `template` is the sandbox's template; all else is the id or name of a
                 *     snapshot that was taken of this sandbox: one of another sandbox is 409 CONFLICT, and an unknown one 404 SNAPSHOT_NOT_FOUND.
                 *     Default: the mounted copy if the sandbox has just one, `template` if it has none; several are 400 INVALID_REQUEST.
                 */
                since?: components["parameters"]["Since"];
            };
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes, by path. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDiff: {
        parameters: {
            query: {
                /** @description The file's path in the sandbox. */
                path: string;
                /** @description What to compare with, as for the list of changes. Default: the directory, if the path is below a mounted copy, else `template`. */
                since?: string;
            };
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The diff. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Diff"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    applyChanges: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplyRequest"];
            };
        };
        responses: {
            /** @description The outcome of each path. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppliedList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    createSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSnapshotRequest"];
            };
        };
        responses: {
            /** @description The snapshot. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    forkSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForkRequest"];
            };
        };
        responses: {
            /** @description For each its sandbox, or why it could not be made. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForkList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    restoreSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The sandbox's id. */
                id: components["parameters"]["SandboxId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RestoreRequest"];
            };
        };
        responses: {
            /** @description The sandbox's new state. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxState"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    runProgram: {
        parameters: {
            query?: never;
            header?: {
                /** @description While the server runs, a program is run once for each key within an hour. Repeating the request gives the first one's answer, or 409 CONFLICT where that is not kept any more, where its caller went away, or where the key was used with another body. Streamed answers are not kept. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProgramRequest"];
            };
        };
        responses: {
            /** @description The program ended. One that fails is an answer like any other. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProgramResult"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    listTemplates: {
        parameters: {
            query?: {
                /** @description Only templates of this category. */
                category?: string;
                /** @description Only templates for this language. */
                language?: string;
                /** @description How many to return at most; without it, or -1, all. */
                limit?: number;
                /** @description The fields to return, separated by commas (`id` and `name` always are); without it, or with `all`, all. */
                fields?: string;
                /** @description The `next_cursor` of the page before. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The templates. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The template's name or its id; delete takes the id. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The template. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    deleteTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The template's name or its id; delete takes the id. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The template is gone. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedTemplate"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    buildTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplateBuildRequest"];
            };
        };
        responses: {
            /** @description The build has begun. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateBuild"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    importTemplate: {
        parameters: {
            query?: {
                /** @description The template's name; without it, the name that the file has for the image. */
                name?: string;
                /** @description Replace the template of this name. */
                update?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-tar": (Blob | Uint8Array) | ReadableStream<Uint8Array>;
            };
        };
        responses: {
            /** @description The template. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    getTemplateBuildStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The build's id; the id of its template does too. */
                buildID: components["parameters"]["BuildId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The build as it is now. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateBuildStatus"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getTemplateBuildLogs: {
        parameters: {
            query?: {
                /** @description Where in the log to begin, as the last answer's `offset` said. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The build's id; the id of its template does too. */
                buildID: components["parameters"]["BuildId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The log. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplateBuildLogs"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    createUploadLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UploadLinkRequest"];
            };
        };
        responses: {
            /** @description Whether the files are there, and where to send them. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadLink"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    uploadTemplateFiles: {
        parameters: {
            query: {
                /** @description Proof that this upload was asked for; part of `upload_url`. */
                grant: string;
            };
            header?: never;
            path: {
                /** @description The hash that the upload link was asked for. */
                files_hash: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/gzip": (Blob | Uint8Array) | ReadableStream<Uint8Array>;
            };
        };
        responses: {
            /** @description The files are there. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadedFiles"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            410: components["responses"]["ExpiredLink"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description How many to return at most. */
                limit?: number;
                /** @description Only those of this sandbox; it may be gone. */
                sandbox_id?: string;
                /** @description Only those in this state. */
                status?: components["schemas"]["WebhookDeliveryStatus"];
                /** @description The `next_cursor` of the page before. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The delivery's id. */
                id: components["parameters"]["WebhookDeliveryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery, without headers, secret and what is delivered. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    redeliverWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The delivery's id. */
                id: components["parameters"]["WebhookDeliveryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery, which is pending again. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description Whether to list revoked keys too; the latest of them are remembered. */
                revoked?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKeyRequest"];
            };
        };
        responses: {
            /** @description The key. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The key's id or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listVolumes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The volumes. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VolumeList"];
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    createVolume: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateVolumeRequest"];
            };
        };
        responses: {
            /** @description The volume. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    getVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The volume's id or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The volume. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    deleteVolume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The volume's id or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedVolume"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    listSnapshots: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The snapshots. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SnapshotList"];
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    getSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The snapshot's id or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The snapshot. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    deleteSnapshot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The snapshot's id or its name. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedSnapshot"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    listSecrets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secrets, by name. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredSecretList"];
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    setSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The secret's name. `from` of a sandbox's secret names it. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Secret"];
            };
        };
        responses: {
            /** @description The secret. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    deleteSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The secret's name. `from` of a sandbox's secret names it. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description There is no such secret any more. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description The id of an event, for those after it; `0` for all that are kept. Without it, those from now on. */
                since?: string;
                /** @description Only events of this sandbox; it may be gone. */
                sandbox_id?: string;
                /** @description Only events of these types, separated by commas. Default: all but `sandbox.metrics`, which needs a `sandbox_id`. */
                types?: string;
            };
            header?: {
                /** @description As `since`, which browsers send when they connect again. It wins. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream, until either side ends it. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhooks, without their secrets. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Always `list`. */
                        object?: string;
                        data: components["schemas"]["Webhook"][];
                        /** @description The path of this list. */
                        url?: string;
                        request_id?: string;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookRequest"];
            };
        };
        responses: {
            /** @description The webhook. */
            201: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The webhook's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted. */
            200: {
                headers: {
                    "X-Request-ID": components["headers"]["X-Request-ID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id?: string;
                        /** @description Always `webhook`. */
                        object?: string;
                        deleted?: boolean;
                        request_id?: string;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            507: components["responses"]["InsufficientStorage"];
        };
    };
}
