"""What providers say of a link: its key, its account, its model, its address, and the traffic on it."""

from __future__ import annotations

from typing import Final

from memhold.providers.failures.rule import SPOKEN_FOR, Rule, codes, words

__all__ = [
    "KEY",
    "MODEL",
    "MONEY",
    "OVERLOADED",
    "TRAFFIC",
]

KEY: Final[tuple[Rule, ...]] = (
    Rule(
        name="key",
        cls="auth",
        why="the key is missing, wrong, expired or not allowed",
        # OpenAI error codes; Anthropic authentication_error; Gemini API_KEY_INVALID (a 400); AWS signature errors;
        # Cerebras wrong_api_key; xAI answers 400; DashScope InvalidApiKey; watsonx authentication_token_*
        codes=codes(
            "permissiondeniederror "
            "invalidapikey incorrectapikey apikeyinvalid apikeyexpired apikeyserviceblocked wrongapikey missingapikey "
            "noapikey authenticationerror authenticationfailed unauthenticated unauthorized invalidauthentication "
            "invalidauthenticationerror authorizationerror invalidtoken tokenexpired expiredtoken "
            "unrecognizedclientexception expiredtokenexception invalidsignatureexception "
            "signaturedoesnotmatch missingauthenticationtoken missingauthenticationtokenexception "
            "incompletesignature incompletesignatureexception invalidclienttokenid "
            "accessdeniedkey accountdeactivated authenticationtokenexpired authenticationtokennotvalid invalidkey "
            "keynotfound invalidcredentials badapikey apikeynotfound apikeydisabled keydisabled"
        ),
        words=words(
            r"(?:incorrect|invalid|wrong|missing|expired|malformed|unknown|no) (?:x-)?api[- _]?key",
            r"api[- _]?key (?:is |was |has )?(?:not valid|invalid|missing|expired|revoked|been revoked|not found|"
            r"not provided|incorrect|required|disabled|been disabled|deactivated|deleted)",
            r"did(?:n't| not) provide an api key",
            r"no auth credentials",
            r"(?:invalid|missing|expired|bad) (?:bearer |access |auth\w* |security )*(?:token|credentials?)\b",
            r"security token included in the request is (?:invalid|expired)",
            r"authentication (?:failed|fails|error|required)",
            r"invalid subscription key",
            r"(?:organization|account|project|user|team|key) (?:has been |was |is )(?:disabled|deactivated|"
            r"restricted|banned|revoked|blocked)",
            r"invalid authentication",
        ),
        not_statuses=frozenset({404}),
    ),
)

OVERLOADED: Final[tuple[Rule, ...]] = (
    Rule(
        name="no-capacity",
        cls="retry",
        why="the provider has no capacity for the moment",
        # What a provider says of itself in a code holds over its words on sizes: Azure's NoCapacity speaks of "the
        # maximum usage size allowed during peak load"
        codes=codes(
            "nocapacity overloadederror overloaded modeloverloaded engineoverloaded engineoverloadederror "
            "serveroverloaded serverbusy capacityexceeded servicetiercapacityexceeded queueexceeded"
        ),
        statuses=frozenset({200, 429, 498, 500, 502, 503, 529}),
    ),
)

MONEY: Final[tuple[Rule, ...]] = (
    Rule(
        name="over-the-rate-window",
        cls="shorten",
        why="one request is larger than the tokens allowed in a minute, so no waiting helps",
        # OpenAI (429) and Groq (413) say "Request too large for <model> ... tokens per min (TPM): Limit, Requested"
        words=words(r"request too large for", r"input or output tokens must be reduced"),
    ),
    Rule(
        name="per-minute-quota",
        cls="retry",
        why="a quota counted by the minute is used up",
        # Gemini and Vertex say "quota" for rate limits; the metric tells: ai.google.dev/gemini-api/docs/rate-limits
        words=words(
            r"per_?minute",
            r"/ ?min(?:ute)?\b",
            r"per[- ]min(?:ute)?\b",
            r"requests per second",
            r"per[- ]second",
            r"\b[tr]pm\b.{0,40}(?:limit|exceeded)",
        ),
        statuses=frozenset({429, 503, 200}),
    ),
    Rule(
        name="named-rate",
        cls="retry",
        why="a rate limit that ends by itself",
        # OpenAI, Groq and Anthropic count some rates by the day; they are still rates, and the provider says when
        words=words(r"rate limit .{0,240}try again in \d", r"exceed\w* your .{0,30}rate limit"),
        statuses=frozenset({429, 503, 200}),
    ),
    Rule(
        name="quota",
        cls="park",
        why="the quota, the credits or the budget of this account are used up",
        # OpenAI insufficient_quota; Anthropic 402 billing_error and "credit balance is too low" (a 400);
        # DeepSeek 402; LiteLLM budget_exceeded; DashScope Arrearage; Volcengine AccountOverdueError; Zhipu 1113
        codes=codes(
            "insufficientquota billinghardlimitreached billingnotactive billingerror paymentrequired budgetexceeded "
            "budgetexceedederror "
            "insufficientbalance insufficientcredits insufficientfunds arrearage accountoverdueerror setlimitexceeded "
            "exceededcurrentquotaerror quotaexceedederror creditsexhausted allocationquotafreetieronly "
            "tokenquotareached servicequotaexceededexception servicequotaexceeded accountsuspended spendlimitexceeded "
            "creditlimitexceeded dailyquotaexceeded monthlyquotaexceeded usagelimitreached usagelimitexceeded "
            "1113 1008 planlimitreached outofcredits balanceinsufficient"
        ),
        words=words(
            r"exceeded (?:your|the) (?:current |monthly |daily |included )*(?:quota|credits|budget|spend)",
            r"(?:insufficient|enough|no (?:more )?remaining|out of|more) (?:\w+ )?(?:credits?|balance|quota|funds)",
            r"credit balance|(?:purchase|buy|add|top up) (?:\w+ ){0,2}credits|"
            r"(?:not|n't|no longer) have (?:any |enough |sufficient )?(?:\w+ )?credits",
            r"(?:quota|credits?|budget|balance) (?:has been |have been |is |are |was )?(?:exceeded|exhausted|"
            r"used up|depleted)",
            r"used (?:all|up) .{0,40}(?:credits?|quota|allocation|allowance)",
            r"billing (?:hard|soft)? ?(?:limit|details)|check your (?:plan|billing)|billing (?:is )?not active",
            r"(?:monthly|daily|spend(?:ing)?|usage) (?!rate )(?:\w+ )?(?:limit|cap|quota|budget|allowance)s?\b"
            r"(?!.{0,80}\btry again in\b)",
            r"free-models-per-day|quotaid\S*perday|perday\w*perproject|requests? per day|/ ?(?:month|day)\b",
            r"payment (?:is )?required|subscription (?:has )?(?:expired|lapsed|inactive)|requires an? (?:paid |"
            r"active )?(?:subscription|plan)",
            r"account .{0,40}(?:suspended|overdue|in arrears|not in good standing|not active)|in good standing",
            r"余额不足|欠费",
        ),
        not_statuses=frozenset({404, 413}),
    ),
)

MODEL: Final[tuple[Rule, ...]] = (
    Rule(
        name="model",
        cls="park",
        why="the model is not there, not loaded, retired, or not open to this account",
        # OpenAI model_not_found; Groq model_decommissioned, model_terms_required; Azure DeploymentNotFound; LM Studio
        # "No models loaded"; Ollama "try pulling it"; OpenRouter "No endpoints found"; Bedrock on-demand throughput
        codes=codes(
            "modelnotfound modelnotfounderror modelnotfoundexception modeldecommissioned modeldeprecated modelretired "
            "modeltermsrequired modelpermissionblockedorg modelpermissionblockedproject modelnotavailable "
            "modelnotactive modelnotopen modelnotsupported modelnotexist modelnotallowed modelunavailable "
            "nomodelsloaded "
            "deploymentnotfound resourcenotfoundexception resourcenotfound notfounderror notfound nosuchmodel "
            "invalidmodel invalidmodelid invalidmodelname unknownmodel modelaccessdenied "
            "invalidendpointormodelnotfound "
            "servicedisabled unsupportedcountryregionterritory ipnotauthorized unknownurl 1211 modelnotloaded "
            "invalidendpointormodel operationnotsupported"
        ),
        words=words(
            r"model\b.{0,160}(?:does(?: not|n't) exist|not exist|not (?:be )?found|is not available|isn't available|"
            r"not a valid|has been (?:deprecated|decommissioned|retired|removed|shut|discontinued|sunset)|"
            r"(?:was|is|are) (?:removed|deprecated|decommissioned|retired|discontinued|not loaded|not deployed|not "
            r"downloaded|not installed|not enabled|not accessible|disabled|shut down|not served)|"
            r"no longer (?:available|"
            r"supported|served|offered)|not (?:currently )?loaded|identifier is invalid|reached (?:its )?end of life|"
            r"requires (?:terms|more system memory)|has not been (?:loaded|deployed|enabled))",
            r"no models? (?:is |are |was )?(?:currently )?(?:loaded|available|found|installed|selected|named)",
            # "Model x is not supported": of a model by its name, not of a field with or for a model
            r"\bmodel:? [`'\"]?[\w./:@-]+[`'\"]? is not (?:currently )?(?:supported|deployed|served|enabled)"
            r"(?! (?:with|for|when|by|in combination))|supported models are",
            r"modelnot(?:deployed|loaded|found|available)",
            r"no such model|unknown model|invalid model|not a valid model|unsupported model|unrecognized model",
            r"failed to load model|error loading model|unable to load model|could not load model",
            r"try pulling it|deployment .{0,80}(?:not exist|not found)",
            r"(?:not|n't) have access to .{0,40}model|no access to .{0,40}model|"
            r"access to (?:the )?(?:requested )?model",
            r"model (?:access|usage) (?:is |was )?(?:denied|blocked|restricted)|gated (?:repo|model)",
            r"no endpoints found (?:for|matching)|no allowed providers|"
            r"no (?:available )?(?:model )?providers? (?:for|available|that)",
            r"on-demand throughput isn.t supported|inference profile",
            r"not a chat model|(?:not|n't) support (?:chat|embeddings?|generate|completions?)\b",
            r"terms acceptance|accept the terms|multiple models are loaded|llm provider not provided",
            r"not allowed to use .{0,30}model|no available channel",
            r"more system memory|insufficient (?:gpu |v?ram|memory|system)|out of memory|unable to allocate",
            r"location is not supported|(?:country|region|territory).{0,40}not (?:supported|available|allowed)",
            r"has not been used in project|api (?:is |has been |was )?(?:disabled|not enabled)",
        ),
        not_statuses=frozenset({401, 402}),
    ),
    Rule(
        name="address",
        cls="park",
        why="the base URL does not lead to the provider's API",
        # LM Studio answers an unknown path with 200; OpenAI unknown_url; a plain web server with a page
        words=words(
            r"unexpected endpoint or method",
            # nginx and Go on a base URL of the wrong scheme
            r"http request (?:was sent )?to (?:an )?https (?:port|server)",
            r"unknown (?:request )?(?:url|path|route|endpoint)|invalid url \(",
            r"cannot (?:post|get) /|no route matched|404 page not found|method not allowed",
            r"no such host|name or service not known|nodename nor servname|name does not resolve|getaddrinfo failed",
            r"certificate[_ ]verify[_ ]failed|self[- ]signed certificate|unsupportedprotocol|missing an? 'https?|"
            r"wrong version number",
        ),
        not_statuses=frozenset({401, 402, 403}),
    ),
    Rule(
        name="firewall",
        cls="park",
        why="a firewall before the provider blocks this machine",
        # Cloudflare challenge and block pages carry no JSON
        words=words(
            r"attention required! \| cloudflare|just a moment|error code:? 10(?:06|07|08|09|10|12|20)\b|"
            r"you have been blocked"
        ),
        statuses=frozenset({403, 503, 429, 200}),
    ),
)

TRAFFIC: Final[tuple[Rule, ...]] = (
    Rule(
        name="timeout",
        cls="retry",
        why="the provider or a gateway gave up waiting",
        # Cloudflare 522 and 524; gRPC DEADLINE_EXCEEDED; Bedrock ModelTimeoutException
        codes=codes(
            "deadlineexceeded modeltimeoutexception modeltimeout requesttimeout requesttimeouterror timeouterror "
            "timeout "
            "gatewaytimeout functioninvocationtimeout operationtimeout upstreamtimeout requesttimedout apitimeouterror "
            "readtimeout connecttimeout pooltimeout writetimeout timeoutexception"
        ),
        words=words(r"timed? ?-?out\b|timeout|deadline (?:was )?exceeded|took too long"),
        not_statuses=SPOKEN_FOR | {400, 422, 429},
        slow=True,
    ),
    Rule(
        name="rate-limit",
        cls="retry",
        why="too many requests or tokens for now",
        # RFC 6585; OpenAI and Groq rate_limit_exceeded; AWS ThrottlingException; gRPC RESOURCE_EXHAUSTED; Zhipu 1302
        codes=codes(
            "ratelimitexceeded ratelimiterror ratelimit ratelimited ratelimitreached ratelimitreachederror "
            "toomanyrequests toomanyrequestserror toomanyrequestsexception throttling throttlingexception throttled "
            "throttlingratequota throttlingallocationquota throttlingburstrate throttlingerror resourceexhausted "
            "requestlimitexceeded requestthrottled slowdown tokenquotaexceeded requestquotaexceeded queueexceeded "
            "concurrencylimitexceeded concurrencyexceeded limitrequests limitburstrate ratelimitexceedederror "
            "1302 1303 1305 1002 tokensexceeded requestsexceeded toomanytokenserror"
        ),
        words=words(
            r"rate[- _]?limit|too many (?:concurrent |simultaneous )?requests|throttl|request limit (?:reached|"
            r"exceeded)|"
            r"requests per|tokens per (?:min|sec|hour|day)|concurren\w+ (?:limit|request)|slow down|too quickly|qps|"
            r"resource (?:has been )?exhausted|max\w* (?:number of )?concurren|too many tokens per"
        ),
        not_statuses=SPOKEN_FOR,
    ),
    Rule(
        name="overloaded",
        cls="retry",
        why="the provider is overloaded, starting or down for the moment",
        # Anthropic 529; llama.cpp "Loading model"; Ollama pending requests; HF estimated_time; Mistral code 3505
        codes=codes(
            "overloadederror overloaded modeloverloaded engineoverloaded engineoverloadederror serveroverloaded "
            "serverbusy unavailable unavailableerror serviceunavailable serviceunavailableexception "
            "serviceunavailableerror modelnotreadyexception modelnotready capacityexceeded servicetiercapacityexceeded "
            "nocapacity modelloading modelisloading loading 3505 systembusy busy temporarilyunavailable "
            "resourceunavailable upstreamerror badgateway apiconnectionerror nodeploymentsavailable"
        ),
        words=words(
            r"overloaded|over ?capacity|at (?:full )?capacity|capacity (?:temporarily )?exceeded|(?:server|system|"
            r"engine|model|"
            r"service) (?:is )?(?:currently )?(?:busy|loading|unavailable|starting|warming)|loading model|"
            r"is currently loading|"
            r"high (?:demand|traffic|load)|temporarily (?:unavailable|overloaded|down|out)|service (?:is )?unavailable|"
            r"(?:try|retry) (?:your request |the request )?again (?:later|soon|shortly|in)\\b|retry (?:your|"
            r"the) request|upstream|no healthy|bad gateway|maintenance|"
            r"connection (?:reset|refused|aborted|error|closed|was)|no deployments available|unexpectedly stopped|"
            r"peer closed|server disconnected|broken pipe|connect(?:ion)? ?error|connection attempts failed|"
            r"remoteprotocol|"
            r"readerror|eof occurred"
        ),
        not_statuses=SPOKEN_FOR,
    ),
)
