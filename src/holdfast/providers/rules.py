"""The classifier's table: what providers answer when they fail, in the order in which the lines are asked.

A line matches a document by one of its `codes` (structured fields, in normal form: see `reading.normal`), or by its
`words` (a pattern over the lower-case words), where `statuses` and `kind` allow it. The first line that matches the
innermost document decides; only then come the documents around it. Specific lines stand before general ones: what a
provider says of this request before what it says of itself. `why` is the only text of a line that reaches an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from holdfast.errors import FailureClass

__all__ = ["RULES", "Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line of the table."""

    name: str
    cls: FailureClass
    why: str
    codes: frozenset[str] = frozenset()
    words: re.Pattern[str] | None = None
    statuses: frozenset[int] | None = None
    not_statuses: frozenset[int] = frozenset()
    kind: Literal["chat", "embedding"] | None = None
    slow: bool = False
    refused: bool = False


def _codes(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _words(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.DOTALL)


_LOCKED: Final = frozenset({401, 402, 403, 404, 405, 410, 413})

_MODEL_FAILED: Final = (
    Rule(
        name="bad-generation",
        cls="resample",
        why="the model did not produce a valid tool call or valid JSON",
        # Groq: console.groq.com/docs/errors; Gemini finishReason; Ollama and llama.cpp parse the call on the server
        codes=_codes(
            "tooluseffailed toolusefailed jsonvalidatefailed outputparsefailed malformedfunctioncall "
            "unexpectedtoolcall malformedresponse invalidmodeloutput modelerroroutput missingthoughtsignature "
            "toolcallparseerror toomanytoolcalls jsonschemavalidationfailed unparsabletooluse malformedtooluse "
            "malformedmodeloutput"
        ),
        words=_words(
            r"failed to call a function",
            r"tool call validation failed",
            r"error parsing tool call",
            r"failed to (?:parse|generate) (?:the )?(?:json|tool|function|output|model)",
            r"failed to parse input at pos",
            r"model (?:produced|generated|returned|output) (?:an )?(?:invalid|malformed|empty|unparsable)",
            r"(?:invalid|malformed) (?:tool call|function call|json) (?:was )?(?:generated|produced|returned) by",
            r"could not finish the message because max_tokens",
            r"model (?:output|response) (?:could not be|was not) (?:parsed|valid)",
            r"exceeded maximum retries .*(?:validation|output)",
        ),
    ),
)

_KEY: Final = (
    Rule(
        name="key",
        cls="auth",
        why="the key is missing, wrong, expired or not allowed",
        # OpenAI error codes; Anthropic authentication_error; Gemini API_KEY_INVALID (a 400); AWS signature errors;
        # Cerebras wrong_api_key; xAI answers 400; DashScope InvalidApiKey; watsonx authentication_token_*
        codes=_codes(
            "invalidapikey incorrectapikey apikeyinvalid apikeyexpired apikeyserviceblocked wrongapikey missingapikey "
            "noapikey authenticationerror authenticationfailed unauthenticated unauthorized invalidauthentication "
            "invalidauthenticationerror authorizationerror invalidtoken tokenexpired expiredtoken "
            "unrecognizedclientexception expiredtokenexception invalidsignatureexception "
            "signaturedoesnotmatch missingauthenticationtoken missingauthenticationtokenexception "
            "incompletesignature incompletesignatureexception invalidclienttokenid "
            "accessdeniedkey accountdeactivated authenticationtokenexpired authenticationtokennotvalid invalidkey "
            "keynotfound invalidcredentials badapikey apikeynotfound apikeydisabled keydisabled"
        ),
        words=_words(
            r"(?:incorrect|invalid|wrong|missing|expired|malformed|unknown|no) (?:x-)?api[- _]?key",
            r"api[- _]?key (?:is |was |has )?(?:not valid|invalid|missing|expired|revoked|been revoked|not found|"
            r"not provided|incorrect|required|disabled|been disabled|deactivated|deleted)",
            r"did(?:n't| not) provide an api key",
            r"no auth credentials",
            r"(?:invalid|missing|expired|bad) (?:bearer |access |auth\w* |security )*(?:token|credentials?)\b",
            r"security token included in the request is (?:invalid|expired)",
            r"authentication (?:failed|fails|error|required)",
            r"invalid subscription key",
            r"(?:organization|account|project|user|team|key) (?:has been |was |is )(?:disabled|deactivated|restricted|banned|revoked|blocked)",
            r"invalid authentication",
        ),
        not_statuses=frozenset({404}),
    ),
)

_MONEY: Final = (
    Rule(
        name="over-the-rate-window",
        cls="shorten",
        why="one request is larger than the tokens allowed in a minute, so no waiting helps",
        # OpenAI (429) and Groq (413) say "Request too large for <model> ... tokens per min (TPM): Limit, Requested"
        words=_words(r"request too large for", r"input or output tokens must be reduced"),
    ),
    Rule(
        name="per-minute-quota",
        cls="retry",
        why="a quota counted by the minute is used up",
        # Gemini and Vertex say "quota" for rate limits; the metric's name tells: ai.google.dev/gemini-api/docs/rate-limits
        words=_words(
            r"per_?minute", r"/ ?min(?:ute)?\b", r"per[- ]min(?:ute)?\b", r"requests per second", r"per[- ]second",
            r"\b[tr]pm\b.{0,40}(?:limit|exceeded)",
        ),
        statuses=frozenset({429, 503, 200}),
    ),
    Rule(
        name="rate-with-a-time",
        cls="retry",
        why="a rate limit that ends at a time the provider states",
        # OpenAI and Groq count some rates by the day and say when there is room again
        words=_words(r"rate limit .{0,240}try again in \d"),
        statuses=frozenset({429, 503, 200}),
    ),
    Rule(
        name="quota",
        cls="park",
        why="the quota, the credits or the budget of this account are used up",
        # OpenAI insufficient_quota; Anthropic 402 billing_error and "credit balance is too low" (a 400);
        # DeepSeek 402; LiteLLM budget_exceeded; DashScope Arrearage; Volcengine AccountOverdueError; Zhipu 1113
        codes=_codes(
            "insufficientquota billinghardlimitreached billingnotactive billingerror paymentrequired budgetexceeded "
            "insufficientbalance insufficientcredits insufficientfunds arrearage accountoverdueerror setlimitexceeded "
            "exceededcurrentquotaerror quotaexceedederror creditsexhausted allocationquotafreetieronly "
            "tokenquotareached servicequotaexceededexception servicequotaexceeded accountsuspended spendlimitexceeded "
            "creditlimitexceeded dailyquotaexceeded monthlyquotaexceeded usagelimitreached usagelimitexceeded "
            "1113 1008 planlimitreached outofcredits balanceinsufficient"
        ),
        words=_words(
            r"exceeded (?:your|the) (?:current |monthly |daily |included )*(?:quota|credits|budget|spend)",
            r"(?:insufficient|enough|no (?:more )?remaining|out of|more) (?:\w+ )?(?:credits?|balance|quota|funds)",
            r"credit balance",
            r"(?:quota|credits?|budget|balance) (?:has been |have been |is |are |was )?(?:exceeded|exhausted|used up|depleted)",
            r"used (?:all|up) .{0,40}(?:credits?|quota|allocation|allowance)",
            r"billing (?:hard|soft)? ?(?:limit|details)|check your (?:plan|billing)|billing (?:is )?not active",
            r"(?:monthly|daily|spend(?:ing)?|usage) (?:\w+ )?(?:limit|cap|quota|budget|allowance)s?\b"
            r"(?!.{0,80}\btry again in\b)",
            r"free-models-per-day|quotaid\S*perday|perday\w*perproject|requests? per day|/ ?(?:month|day)\b",
            r"payment (?:is )?required|subscription (?:has )?(?:expired|lapsed|inactive)|requires an? (?:paid |active )?(?:subscription|plan)",
            r"account .{0,40}(?:suspended|overdue|in arrears|not in good standing|not active)|in good standing",
            r"余额不足|欠费",
        ),
        not_statuses=frozenset({404, 413}),
    ),
)

_LENGTH: Final = (
    Rule(
        name="output-limit-parameter",
        cls="next",
        why="the demanded output is longer than this model can write",
        # Anthropic "max_tokens: 100000 > 8192"; OpenAI "max_tokens is too large"
        words=_words(
            r"max_(?:completion_|output_|new_)?tokens`? (?:is |value )?(?:too large|too high)",
            r"max_(?:completion_|output_|new_)?tokens: ?\d+ ?> ?\d+",
            r"maximum (?:allowed )?number of output tokens",
            r"at most \d+ (?:completion|output) tokens",
            r"(?<!\+ )(?<!\+ `)`?\bmax_(?:completion_|output_|new_)?tokens`? (?:must be|should be|cannot be) (?:less|smaller|at most|<)",
            r"range of max_tokens should be",
        ),
        not_statuses=frozenset({401, 403, 404, 429}),
    ),
    Rule(
        name="too-long",
        cls="shorten",
        why="the request is longer than this model or server takes",
        # OpenAI, Groq, Together, Fireworks, Cerebras: context_length_exceeded; llama.cpp exceed_context_size_error;
        # GitHub Models tokens_limit_reached; Anthropic request_too_large; LiteLLM ContextWindowExceededError
        codes=_codes(
            "contextlengthexceeded exceedcontextsizeerror contextwindowexceeded contextwindowexceedederror "
            "modelcontextwindowexceeded requesttoolarge requestentitytoolarge payloadtoolarge contenttoolarge "
            "stringabovemaxlength arrayabovemaxlength tokenslimitreached prompttoolong inputtoolong toomanytokens "
            "maxtokensperrequest tokenlimitexceeded contextlimitexceeded contextoverflow maxcontextlengthexceeded "
            "promptlengthexceeded inputlengthexceeded 1261 1039 maxinputlengthexceeded contextlengthexceedederror"
        ),
        words=_words(
            r"(?:maximum|max) (?:allowed )?(?:context|prompt|input|sequence|model|token) ?(?:window |size |context )?length",
            r"(?:context|prompt|sequence) (?:window|size|length|limit).{0,60}(?:exceed|overflow|too (?:small|long|large))",
            r"(?:exceed|overflow|greater than|longer than|larger than|beyond|too (?:large|long|many)).{0,80}"
            r"context (?:window|size|length|limit)",
            r"context (?:the )?overflow|context shift is disabled",
            r"cannot exceed (?:the )?.{0,30}\d+ tokens|exceeds? \d+ tokens",
            r"exceed\w* .{0,40}token limit(?! per)",
            r"reached context length",
            r"model is loaded with context length of only",
            r"(?:prompt|input|inputs|request|query|text|document|conversation)s?`? (?:is |are |was |were )?too (?:long|large)",
            r"too (?:long|large) to process",
            r"(?:request|prompt|payload|body|message|content|entity) (?:entity |body |size |payload )?(?:is )?too (?:long|large|big)",
            r"too many (?:input |prompt |total )?tokens(?! per|, please wait|\\b.{0,20}wait)",
            r"(?:input|prompt|request|total)\S*(?: \w+)? (?:token|length|size)\S*.{0,60}exceed",
            r"exceeds?.{0,40}(?:maximum|max|limit).{0,30}(?:tokens?\b(?! per m)|size|length|characters|input)",
            r"exceeds? the (?:maximum|limit) (?:allowed )?(?:size|length|number of tokens|token|payload|request)",
            r"tokens?.{0,40}exceeds? (?:the )?(?:maximum|max|model|context|limit|allowed)",
            r"`?inputs`?(?: tokens)? .{0,40}must (?:be <=|have less than|be less)",
            r"must have less than \d+ tokens",
            r"(?:reduce|shorten|truncate|trim) (?:the |your )?(?:length|prompt|input|message|context|size|number of tokens|text)",
            r"longer than the (?:maximum )?(?:model|context|allowed|sequence)",
            r"maximum (?:request|allowed|payload|content) (?:size|length)",
            r"max(?:imum)? (?:allowed )?tokens per (?:submitted )?(?:batch|request)|max \d+ tokens per request",
            r"range of input length should be",
            r"string too long|array too long|at most \d+ (?:requests|texts|inputs|documents|items|strings)",
            r"total number of (?:texts|tokens|inputs).{0,60}(?:at most|cannot exceed|must be)",
            r"input or output tokens must be reduced",
            r"input (?:length|text|tokens?).{0,30}(?:exceed|too long|greater|larger|above)",
            r"batch size \d+ (?:>|exceeds|is larger)",
        ),
        not_statuses=frozenset({401, 402, 403}),
    ),
)

_REFUSAL: Final = (
    Rule(
        name="content-filter",
        cls="next",
        why="this provider does not take this content",
        # Azure content_filter; OpenAI invalid_prompt, content_policy_violation; Gemini blockReason and finishReason;
        # DashScope DataInspectionFailed; DeepSeek "Content Exists Risk"; Bedrock guardrails; Zhipu 1301
        codes=_codes(
            "contentfilter contentfiltered contentpolicyviolation contentpolicyviolationerror invalidprompt "
            "responsibleaipolicyviolation moderation moderationblocked moderationerror contentmoderation safety "
            "imagesafety prohibitedcontent recitation blocklist spii guardrailintervened guardrailblocked refusal "
            "datainspectionfailed sensitivecontentdetected inputtextsensitivecontentdetected "
            "outputtextsensitivecontentdetected contentblocked promptblocked blockedprompt contentviolation "
            "usagepolicyviolation policyviolation cyberpolicyviolation 1301 1026 1027 flagged contentfiltererror "
            "safetycheckfailed safetyviolation"
        ),
        words=_words(
            r"content (?:management |moderation |safety )?(?:polic|filter)",
            r"(?:was|been|were|is|got) (?:flagged|blocked|filtered|rejected) (?:by|as|for|due|because|under)",
            r"requires moderation",
            r"(?:flagged|blocked) (?:content|prompt|input|output|by)",
            r"content exists risk",
            r"violat\w+.{0,60}(?:polic|guideline|terms|safety)",
            r"safety (?:system|filter|setting|reason|polic|guideline|check)",
            r"(?:inappropriate|harmful|unsafe|sensitive|prohibited|illegal|nsfw) (?:content|text|prompt|input|information)",
            r"usage (?:polic|guideline)",
            r"guardrail",
        ),
        not_statuses=frozenset({401, 404}),
        refused=True,
    ),
)

_TOOLS: Final = (
    Rule(
        name="tool-choice",
        cls="next",
        why="this link does not take a forced tool choice",
        # vLLM needs --enable-auto-tool-choice; Anthropic refuses forcing beside thinking; DeepSeek reasoner; Qwen
        words=_words(
            r"tool[_ ]choice.{0,120}(?:not (?:be )?(?:support|allow|permit|valid|compatib|implement)|unsupported|requires|"
            r"incompatible|only (?:support|allow|accept)|must be (?:auto|one of|either|set)|invalid|forces|unknown|does not|"
            r"is not|no effect|cannot|ignored|should be)",
            r"(?:not support|unsupported|not compatible|incompatible|not allowed|may not|cannot|can't|invalid value|unknown|"
            r"doesn't support|unexpected|unrecognized|extra inputs).{0,120}tool[_ ]choice",
            r"forced? (?:tool|function)[- _](?:use|call\w*|choice).{0,60}not",
            r"no endpoints found that support the provided .{0,3}tool_choice",
        ),
        not_statuses=frozenset({401, 402, 403, 429}),
    ),
    Rule(
        name="no-tools",
        cls="next",
        why="this model does not call tools",
        # Ollama "does not support tools"; OpenRouter "No endpoints found that support tool use"
        words=_words(
            r"(?:not|n't|cannot) (?:currently )?support(?:s|ed)? .{0,30}(?:tools?|function|parallel)",
            r"no endpoints found that support",
            r"(?:tools?|tool use|tool calling|function calling|functions) (?:is|are) not (?:supported|available|enabled)",
            r"tool (?:use|calling) is (?:un|not )(?:supported|available)",
        ),
        not_statuses=frozenset({401, 402, 403, 429}),
    ),
    Rule(
        name="unknown-field",
        cls="next",
        why="this link does not know one of the request's fields",
        # Gemini "Unknown name", Mistral and Anthropic "Extra inputs are not permitted": other providers take the field
        codes=_codes("extraforbidden unknownparameter unsupportedparameter unsupportedvalue"),
        words=_words(
            r"unknown (?:name|parameter|field|argument)|unrecognized (?:request )?(?:argument|parameter|field|key)s?",
            r"extra (?:inputs|fields) (?:are )?not permitted|extra_forbidden|additional properties are not allowed",
        ),
        not_statuses=_LOCKED | {429},
    ),
)

_PAYLOAD: Final = (
    Rule(
        name="tool-pairing",
        cls="poison",
        why="calls and results of tools in the request do not belong together",
        # OpenAI, Anthropic, Gemini and Mistral each say it in their own words; see FAILURES: cut windows
        words=_words(
            r"role '?`?tool'?`?.{0,80}(?:must|should|response|preced|follow)",
            r"tool_use_?id|`tool_use`|tool_result|tool_call_ids?\b|tool_calls'? must be followed",
            r"preceed?ing message with|response to a preceed?ing|must be followed by tool messages",
            r"function (?:call|response) turn|number of function response parts|function response parts",
            r"not the same number of function calls and responses",
            r"no tool (?:call|output) found for|unexpected tool call id",
        ),
        not_statuses=_LOCKED,
    ),
    Rule(
        name="roles",
        cls="poison",
        why="the order or the roles of the messages are not valid",
        words=_words(
            r"roles? must alternate|must alternate between|alternating (?:user|roles)",
            r"(?:first|last) message (?:must|should|cannot|has to)|must (?:start|begin|end) with an? (?:user|tool|system)",
            r"(?:unexpected|invalid|unknown|unsupported) (?:message )?role",
            r"expected last role",
            r"at least one message|messages?: ?(?:list )?should have at least",
            r"system message must be|only one system message|after the optional system message",
            r"(?:content|messages?|contents|text|input|prompt)(?: \w+)? (?:is |are |must be |cannot be |must not be |can't be "
            r"|may not be |should not be )(?:non-?empty|empty|not specified|required|null|blank)",
            r"(?:must have|contain) (?:non-?empty|a text|at least one|a non)",
            r"contents? (?:is|are) (?:not specified|required)|must include at least one parts? field",
            r"does not support assistant message prefill|ends? with (?:an )?assistant|final assistant content",
        ),
        not_statuses=_LOCKED,
    ),
    Rule(
        name="schema",
        cls="poison",
        why="the tool's schema or the response schema is not valid",
        # OpenAI invalid_function_parameters; Anthropic tools.N.custom.input_schema
        codes=_codes("invalidfunctionparameters invalidjsonschema invalidtoolschema invalidschema"),
        words=_words(
            r"invalid schema for|invalid (?:tool|function|json)?[ _-]?(?:schema|definition|parameters)",
            r"tools?[.\[]\d+.{0,40}(?:input_schema|function|parameters|name)",
            r"json schema is invalid|schema (?:is|must be) (?:invalid|of type|a valid)",
            r"function (?:name|declaration).{0,40}(?:invalid|must|duplicate)|tool names must be unique|duplicate tool",
        ),
        not_statuses=_LOCKED,
    ),
)

_PARAMETERS: Final = (
    Rule(
        name="not-a-number",
        cls="poison",
        why="the model has no vector for this text",
        # Ollama: a vector with NaN in it cannot be written as JSON, and comes back as a 500
        words=_words(r"unsupported value: (?:nan|[+-]?inf)"),
        kind="embedding",
    ),
    Rule(
        name="parameter",
        cls="next",
        why="this link does not take one of the request's parameters",
        # OpenAI unsupported_parameter, unsupported_value; Gemini "Unknown name"; Mistral extra_forbidden
        codes=_codes(
            "unsupportedparameter unsupportedvalue unknownparameter extraforbidden unsupportedparamserror "
            "unsupportedparams unsupportedoperation notimplemented unimplemented unsupportedfeature notsupportederror "
            "unsupportedmodelfeature"
        ),
        words=_words(
            r"unsupported (?:parameter|value|field|argument|option|feature|param)",
            r"(?:parameter|value|field|argument|option|feature|temperature|top_p|response_format|stream\w*|logprobs|"
            r"reasoning\w*|thinking|json_schema|json mode|system role|developer instruction|system message|streaming|"
            r"max_tokens)\S*(?: [\w`'\".]+){0,8} (?:not|n't|isn.t|no longer) (?:\w+ )?(?:support|allow|permit|accept|implement|available)",
            r"(?:does not|doesn't|do not|don't) (?:currently )?(?:support|accept|allow)\b",
            r"(?:is|are) (?:not (?:yet |currently )?supported|deprecated|unsupported|not implemented)(?! model)",
            r"only the default .{0,20}value is supported|unexpected keyword argument|cannot both be (?:specified|set|used)",
            r"not enabled for (?:this |the )?(?:models?|endpoint|deployment)|requires? (?:the )?`?--[a-z]",
            r"tool call id was .{0,80}must be",
        ),
        statuses=frozenset({200, 400, 422, 500, 501, 404, 406}),
    ),
)

_MODEL: Final = (
    Rule(
        name="model",
        cls="park",
        why="the model is not there, not loaded, retired, or not open to this account",
        # OpenAI model_not_found; Groq model_decommissioned, model_terms_required; Azure DeploymentNotFound; LM Studio
        # "No models loaded"; Ollama "try pulling it"; OpenRouter "No endpoints found"; Bedrock on-demand throughput
        codes=_codes(
            "modelnotfound modelnotfounderror modelnotfoundexception modeldecommissioned modeldeprecated modelretired "
            "modeltermsrequired modelpermissionblockedorg modelpermissionblockedproject modelnotavailable "
            "modelnotactive modelnotopen modelnotsupported modelnotexist modelnotallowed modelunavailable nomodelsloaded "
            "deploymentnotfound resourcenotfoundexception resourcenotfound notfounderror notfound nosuchmodel "
            "invalidmodel invalidmodelid invalidmodelname unknownmodel modelaccessdenied invalidendpointormodelnotfound "
            "servicedisabled unsupportedcountryregionterritory ipnotauthorized unknownurl 1211 modelnotloaded "
            "invalidendpointormodel operationnotsupported"
        ),
        words=_words(
            r"model\b.{0,160}(?:does(?: not|n't) exist|not exist|not (?:be )?found|is not available|isn't available|"
            r"not a valid|has been (?:deprecated|decommissioned|retired|removed|shut|discontinued|sunset)|"
            r"(?:was|is|are) (?:removed|deprecated|decommissioned|retired|discontinued|not loaded|not deployed|not "
            r"downloaded|not installed|not enabled|not accessible|disabled|shut down|not served)|no longer (?:available|"
            r"supported|served|offered)|not (?:currently )?loaded|identifier is invalid|reached (?:its )?end of life|"
            r"requires (?:terms|more system memory)|has not been (?:loaded|deployed|enabled))",
            r"no models? (?:is |are |was )?(?:currently )?(?:loaded|available|found|installed|selected|named)",
            r"no such model|unknown model|invalid model|not a valid model|unsupported model|unrecognized model",
            r"failed to load model|error loading model|unable to load model|could not load model",
            r"try pulling it|deployment .{0,80}(?:not exist|not found)",
            r"(?:not|n't) have access to .{0,40}model|no access to .{0,40}model|access to (?:the )?(?:requested )?model",
            r"model (?:access|usage) (?:is |was )?(?:denied|blocked|restricted)|gated (?:repo|model)",
            r"no endpoints found (?:for|matching)|no allowed providers|no (?:available )?(?:model )?providers? (?:for|available|that)",
            r"on-demand throughput isn.t supported|inference profile",
            r"not a chat model|(?:not|n't) support (?:chat|embeddings?|generate|completions?)\b",
            r"terms acceptance|accept the terms",
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
        words=_words(
            r"unexpected endpoint or method",
            r"unknown (?:request )?(?:url|path|route|endpoint)|invalid url \(",
            r"cannot (?:post|get) /|no route matched|404 page not found|method not allowed",
            r"no such host|name or service not known|nodename nor servname|name does not resolve|getaddrinfo failed",
            r"certificate[_ ]verify[_ ]failed|self[- ]signed certificate|unsupportedprotocol|missing an? 'https?|wrong version number",
        ),
        not_statuses=frozenset({401, 402, 403}),
    ),
    Rule(
        name="firewall",
        cls="park",
        why="a firewall before the provider blocks this machine",
        # Cloudflare challenge and block pages carry no JSON
        words=_words(
            r"attention required! \| cloudflare|just a moment|error code:? 10(?:06|07|08|09|10|12|20)\b|you have been blocked"
        ),
        statuses=frozenset({403, 503, 429, 200}),
    ),
)

_TRAFFIC: Final = (
    Rule(
        name="timeout",
        cls="retry",
        why="the provider or a gateway gave up waiting",
        # Cloudflare 522 and 524; gRPC DEADLINE_EXCEEDED; Bedrock ModelTimeoutException
        codes=_codes(
            "deadlineexceeded modeltimeoutexception modeltimeout requesttimeout requesttimeouterror timeouterror timeout "
            "gatewaytimeout functioninvocationtimeout operationtimeout upstreamtimeout requesttimedout apitimeouterror "
            "readtimeout connecttimeout pooltimeout writetimeout timeoutexception"
        ),
        words=_words(r"timed? ?-?out\b|timeout|deadline (?:was )?exceeded|took too long"),
        not_statuses=_LOCKED | {400, 422, 429},
        slow=True,
    ),
    Rule(
        name="rate-limit",
        cls="retry",
        why="too many requests or tokens for now",
        # RFC 6585; OpenAI and Groq rate_limit_exceeded; AWS ThrottlingException; gRPC RESOURCE_EXHAUSTED; Zhipu 1302
        codes=_codes(
            "ratelimitexceeded ratelimiterror ratelimit ratelimited ratelimitreached ratelimitreachederror "
            "toomanyrequests toomanyrequestserror toomanyrequestsexception throttling throttlingexception throttled "
            "throttlingratequota throttlingallocationquota throttlingburstrate throttlingerror resourceexhausted "
            "requestlimitexceeded requestthrottled slowdown tokenquotaexceeded requestquotaexceeded queueexceeded "
            "concurrencylimitexceeded concurrencyexceeded limitrequests limitburstrate ratelimitexceedederror "
            "1302 1303 1305 1002 tokensexceeded requestsexceeded toomanytokenserror"
        ),
        words=_words(
            r"rate[- _]?limit|too many (?:concurrent |simultaneous )?requests|throttl|request limit (?:reached|exceeded)|"
            r"requests per|tokens per (?:min|sec|hour|day)|concurren\w+ (?:limit|request)|slow down|too quickly|qps|"
            r"resource (?:has been )?exhausted|max\w* (?:number of )?concurren|too many tokens per"
        ),
        not_statuses=_LOCKED,
    ),
    Rule(
        name="overloaded",
        cls="retry",
        why="the provider is overloaded, starting or down for the moment",
        # Anthropic 529; llama.cpp "Loading model"; Ollama pending requests; HF estimated_time; Mistral code 3505
        codes=_codes(
            "overloadederror overloaded modeloverloaded engineoverloaded engineoverloadederror serveroverloaded "
            "serverbusy unavailable unavailableerror serviceunavailable serviceunavailableexception "
            "serviceunavailableerror modelnotreadyexception modelnotready capacityexceeded servicetiercapacityexceeded "
            "nocapacity modelloading modelisloading loading 3505 systembusy busy temporarilyunavailable "
            "resourceunavailable upstreamerror badgateway apiconnectionerror nodeploymentsavailable"
        ),
        words=_words(
            r"overloaded|over ?capacity|at (?:full )?capacity|capacity (?:temporarily )?exceeded|(?:server|system|engine|model|"
            r"service) (?:is )?(?:currently )?(?:busy|loading|unavailable|starting|warming)|loading model|is currently loading|"
            r"high (?:demand|traffic|load)|temporarily (?:unavailable|overloaded|down|out)|service (?:is )?unavailable|"
            r"(?:try|retry) (?:your request |the request )?again (?:later|soon|shortly|in)\\b|retry (?:your|the) request|upstream|no healthy|bad gateway|maintenance|"
            r"connection (?:reset|refused|aborted|error|closed|was)|no deployments available|unexpectedly stopped|"
            r"peer closed|server disconnected|broken pipe|connect(?:ion)? ?error|connection attempts failed|remoteprotocol|"
            r"readerror|eof occurred"
        ),
        not_statuses=_LOCKED,
    ),
)

_REQUEST: Final = (
    Rule(
        name="invalid-request",
        cls="poison",
        why="the request itself is not valid",
        # what is left of OpenAI's and Anthropic's invalid_request_error, gRPC INVALID_ARGUMENT, AWS ValidationException
        codes=_codes(
            "invalidrequesterror invalidrequest badrequesterror badrequest badrequestexception invalidargument "
            "validationexception validationerror invalidparameter invalidparametererror invalidparametervalue "
            "invalidparametervalueexception invalidinput invalidinputerror invalidinputargument invalidrequestentity "
            "requestvalidationerror unprocessableentity unprocessableentityerror invalidtype invalidvalue missingparameter "
            "missingrequiredparameter missing missingfield typeerror jsoninvalid stringtype listtype dicttype valueerror "
            "jsonparseerror parseerror invalidjson schemavalidationerror serializationexception 2013 1210 1213 1214 "
            "invalidmessages malformedrequest apivalidationerror jsondecodeerror decodeerror invalidbody"
        ),
        words=_words(
            r"invalid (?:input|type|value|parameter|argument|request|json|body|format|image|base64|messages?|field|content|"
            r"payload|message)",
            r"(?:is )?not of type|expected .{0,80}(?:but )?(?:got|found|received)|input should be|missing required|"
            r"required (?:field|property|parameter)|field required|is a required property|is required\b",
            r"(?:could not|couldn't|unable to|failed to|cannot|can't) (?:parse|decode|deserialize|unmarshal|process the json)",
            r"malformed|invalid character|must be (?:a|an|of|one of|either|in|between|non|positive|greater|less|strings?|valid|unique)\b",
            r"validation error|messages?[.\[]\d+|body ?-> ?messages|cannot (?:unmarshal|be empty|be null)",
        ),
        not_statuses=_LOCKED | {408, 409, 425, 499, 500, 501, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 529, 530},
    ),
    Rule(
        name="invalid-request-inside",
        cls="poison",
        why="the request itself is not valid, under another status",
        # A gateway's 5xx around a document that is, by its structured type, a refusal of the payload
        codes=_codes(
            "invalidrequesterror badrequesterror invalidargument validationexception requestvalidationerror "
            "unprocessableentityerror badrequest badrequestexception"
        ),
        not_statuses=_LOCKED,
    ),
)

RULES: Final[tuple[Rule, ...]] = (
    *_MODEL_FAILED,
    *_KEY,
    *_MONEY,
    *_LENGTH,
    *_REFUSAL,
    *_TOOLS,
    *_PAYLOAD,
    *_MODEL,
    *_PARAMETERS,
    *_TRAFFIC,
    *_REQUEST,
)
